import { createHmac, timingSafeEqual } from 'node:crypto'
import type { BraintreeContext } from '../state/context.ts'
import { isObject } from '../wire/validation.ts'

/** The permissions that a client token gives to a page. */
export interface ClientAuthorization {
  readonly merchantAccountId: string
  /**
   * Id of the customer in whose vault the page's cards are stored. `null` if they are not stored.
   */
  readonly customerId: string | null
  readonly makeDefault: boolean
  readonly verifyCard: boolean
  readonly failOnDuplicate: boolean
  readonly failOnDuplicateForCustomer: boolean
  /**
   * Origins of the pages that may use the client token. If the list is empty, pages of any origin
   * may.
   */
  readonly domains: readonly string[]
  /** Time at which the client token was created, in epoch milliseconds. */
  readonly createdAt: number
}

const LIFETIME = 24 * 3_600_000

/** Returns the signed `authorizationFingerprint` of a client token. */
export function writeFingerprint(
  context: BraintreeContext,
  authorization: ClientAuthorization,
): string {
  const payload = encode(authorization)
  return `${payload}.${signatureOf(context, payload)}`
}

/**
 * Returns the permissions in an `authorizationFingerprint`. `null` if the fingerprint is forged,
 * belongs to another merchant, or is older than a day.
 */
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
  return context.clock.nowMs() - authorization.createdAt < LIFETIME ? authorization : null
}

/**
 * Returns a signed JWT for a page. Its claims are the preferred payment method or the bank's 3-D
 * Secure result.
 */
export function writeJwt(context: BraintreeContext, claims: object): string {
  const header = encode({ alg: 'HS256', typ: 'JWT' })
  const payload = `${header}.${encode(claims)}`
  return `${payload}.${signatureOf(context, payload)}`
}

/** Returns the claims of a JWT that this sandbox signed. `null` for any other text. */
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
