import { createHmac, timingSafeEqual } from 'node:crypto'
import type { BraintreeContext } from '../state/context.ts'
import { isObject } from '../wire/validation.ts'

/** What a client token lets a page in a browser do. */
export interface ClientAuthorization {
  readonly merchantAccountId: string
  /** Cards that the page takes go straight into this customer's vault. */
  readonly customerId: string | null
  readonly makeDefault: boolean
  readonly verifyCard: boolean
  readonly failOnDuplicate: boolean
  readonly failOnDuplicateForCustomer: boolean
  /** Where the page may be; anywhere when there are none. */
  readonly domains: readonly string[]
  /** Epoch milliseconds on the sandbox's clock. */
  readonly createdAt: number
}

const LASTS = 24 * 3_600_000

/** The `authorizationFingerprint` of a client token: what it allows, and a proof that we wrote it. */
export function writeFingerprint(
  context: BraintreeContext,
  authorization: ClientAuthorization,
): string {
  const payload = encode(authorization)
  return `${payload}.${signatureOf(context, payload)}`
}

/** What the fingerprint allows; null for one that is forged, another merchant's, or a day old. */
export function readFingerprint(
  context: BraintreeContext,
  fingerprint: string,
): ClientAuthorization | null {
  const [payload = ''] = fingerprint.split('.')
  const expected = Buffer.from(`${payload}.${signatureOf(context, payload)}`)
  const given = Buffer.from(fingerprint)
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return null
  const parsed: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString())
  if (!isObject(parsed)) return null
  const authorization = parsed as unknown as ClientAuthorization
  return context.clock.nowMs() - authorization.createdAt < LASTS ? authorization : null
}

/** A signed JWT for a page: the payment method to prefer, or what its bank said. */
export function writeJwt(context: BraintreeContext, claims: object): string {
  const header = encode({ alg: 'HS256', typ: 'JWT' })
  const payload = `${header}.${encode(claims)}`
  return `${payload}.${signatureOf(context, payload)}`
}

/** The claims of a JWT that we wrote; null for any other text. */
export function readJwt(context: BraintreeContext, jwt: string): Record<string, unknown> | null {
  const [, payload = ''] = jwt.split('.')
  const claims: unknown = parseEncoded(payload)
  return isObject(claims) && writeJwt(context, claims) === jwt ? claims : null
}

function parseEncoded(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString())
  } catch {
    return null
  }
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

function signatureOf({ keys }: BraintreeContext, payload: string): string {
  const key = `${keys.merchantId}:${keys.privateKey}`
  return createHmac('sha256', key).update(payload).digest('base64url')
}
