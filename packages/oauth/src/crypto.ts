/**
 * The one file that touches node:crypto. It is used instead of WebCrypto because a signature costs
 * 70 µs here and 190 µs there, and the token endpoint does little else (docs/decisions/0003-crypto.md).
 */
import {
  constants,
  createPrivateKey,
  createPublicKey,
  generateKeyPair,
  hash,
  hkdfSync,
  type KeyObject,
  randomFillSync,
  randomInt,
  randomUUID,
  sign as signCallback,
  sign as signSync,
  timingSafeEqual,
  verify,
} from 'node:crypto'
import { promisify } from 'node:util'
import type { Awaitable } from './awaitable.ts'

export type { KeyObject }

/** How tokens are signed. */
export type SigningAlgorithm = 'EdDSA' | 'ES256' | 'RS256'

interface Algorithm {
  readonly digest: string | null
  generate(): Promise<{ publicKey: KeyObject; privateKey: KeyObject }>
  /** RSA takes 3 ms and would stall everyone, so it signs on another thread. */
  readonly offThread: boolean
}

const generate = promisify(generateKeyPair)

const ALGORITHMS: Readonly<Record<SigningAlgorithm, Algorithm>> = {
  EdDSA: { digest: null, generate: () => generate('ed25519'), offThread: false },
  ES256: {
    digest: 'sha256',
    generate: () => generate('ec', { namedCurve: 'P-256' }),
    offThread: false,
  },
  RS256: {
    digest: 'sha256',
    generate: () => generate('rsa', { modulusLength: 2048 }),
    offThread: true,
  },
}

/** Every algorithm there is. */
export const signingAlgorithms = Object.keys(ALGORITHMS) as readonly SigningAlgorithm[]

const SECRET_BYTES = 32
const pool = Buffer.alloc(128 * SECRET_BYTES)
let used = pool.length

/** 256 random bits. Asking the system for many at a time costs far less; each is used once. */
export function randomSecret(): string {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  const bytes = pool.subarray(used, used + SECRET_BYTES)
  used += SECRET_BYTES
  const text = bytes.toString('base64url')
  bytes.fill(0)
  return text
}

/** Short, for people to type. */
export function randomLetters(alphabet: string, length: number): string {
  return Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('')
}

/** Says nothing of when or how many. */
export function randomId(): string {
  return randomUUID()
}

export function sha256(text: string): string {
  return hash('sha256', text, 'base64url')
}

/** The two padded keys of RFC 2104, each with room for what is hashed after it. */
export interface MacKey {
  readonly inner: Buffer
  readonly outer: Buffer
}

const BLOCK = 64
const DIGEST = 32

/**
 * HMAC-SHA-256 by two plain hashes. An Hmac object costs twice as much, and as much again when it is
 * collected, which shows where each request needs one.
 */
export function hmac({ inner, outer }: MacKey, text: string): string {
  const length = Buffer.byteLength(text)
  const message =
    length <= inner.length - BLOCK
      ? inner.subarray(0, BLOCK + inner.write(text, BLOCK))
      : Buffer.concat([inner.subarray(0, BLOCK), Buffer.from(text)])
  // As a text: a Buffer for each digest would take twice as long as the digest itself.
  outer.write(hash('sha256', message, 'binary'), BLOCK, 'binary')
  return hash('sha256', outer, 'base64url')
}

/** OpenID Connect Core §3.1.3.6: the left half of a digest, of the length the signature works with. */
export function leftHalfHash(algorithm: SigningAlgorithm, text: string): string {
  const digest = hash(algorithm === 'EdDSA' ? 'sha512' : 'sha256', text, 'hex')
  return Buffer.from(digest.slice(0, digest.length / 2), 'hex').toString('base64url')
}

/** As Content-Security-Policy names a script. */
export function sha256Base64(text: string): string {
  return hash('sha256', text, 'base64')
}

/** Constant-time for equal lengths; the length of a digest or token is no secret. */
export function equalSecrets(left: string, right: string): boolean {
  const a = Buffer.from(left)
  const b = Buffer.from(right)
  return a.length === b.length && timingSafeEqual(a, b)
}

/** A key of its own for each purpose, so that a value made for one is worthless for another. */
export function deriveKey(secret: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, 'tollgate', purpose, 32))
}

export function deriveMacKey(secret: string, purpose: string): MacKey {
  return macKeyOf(deriveKey(secret, purpose))
}

export function macKeyOf(key: Buffer): MacKey {
  const inner = Buffer.alloc(BLOCK + 2048, 0x36)
  const outer = Buffer.alloc(BLOCK + DIGEST, 0x5c)
  for (const [index, byte] of key.entries()) {
    inner[index] = byte ^ 0x36
    outer[index] = byte ^ 0x5c
  }
  return { inner, outer }
}

/**
 * Time-ordered (RFC 9562 version 7), so an index on it grows at one end. Not a secret. The
 * random part comes from randomUUID(), which draws from a pool of its own.
 */
export function timeOrderedId(now: Date): string {
  const time = now.getTime()
  if (time !== idTime) {
    const digits = time.toString(16).padStart(12, '0')
    idTime = time
    idPrefix = `${digits.slice(0, 8)}-${digits.slice(8)}-7`
  }
  return idPrefix + randomUUID().slice(15)
}

let idTime = Number.NaN
let idPrefix = ''

export async function generateSigningKey(
  algorithm: SigningAlgorithm,
): Promise<{ publicJwk: JsonWebKey; privateJwk: JsonWebKey }> {
  const pair = await ALGORITHMS[algorithm].generate()
  return {
    publicJwk: pair.publicKey.export({ format: 'jwk' }),
    privateJwk: pair.privateKey.export({ format: 'jwk' }),
  }
}

export function publicKeyOf(privateKey: KeyObject): KeyObject {
  return createPublicKey(privateKey)
}

export function exportJwk(publicKey: KeyObject): JsonWebKey {
  return publicKey.export({ format: 'jwk' })
}

export function importPrivateKey(jwk: JsonWebKey): KeyObject {
  return createPrivateKey({ key: jwk as Record<string, string>, format: 'jwk' })
}

/** JWS wants the two numbers of an ECDSA signature side by side (RFC 7518 §3.4), not DER. */
function keyInput(key: KeyObject) {
  return key.asymmetricKeyType === 'ec' ? { key, dsaEncoding: 'ieee-p1363' as const } : key
}

export function signData(
  algorithm: SigningAlgorithm,
  key: KeyObject,
  data: string,
): Awaitable<string> {
  const { digest, offThread } = ALGORITHMS[algorithm]
  const bytes = Buffer.from(data)
  if (!offThread) return signSync(digest, bytes, keyInput(key)).toString('base64url')
  return new Promise((resolve, reject) => {
    signCallback(digest, bytes, keyInput(key), (error, signature) => {
      if (error) reject(error)
      else resolve(signature.toString('base64url'))
    })
  })
}

export function verifyData(
  algorithm: SigningAlgorithm,
  key: KeyObject,
  data: string,
  signature: Buffer,
): boolean {
  return verify(ALGORITHMS[algorithm].digest, Buffer.from(data), keyInput(key), signature)
}

/** What clients may sign with, with a key of their own: requests, assertions, proofs. */
export type ClientKeyAlgorithm = 'ES256' | 'EdDSA' | 'Ed25519' | 'RS256' | 'PS256'

interface ForeignKind {
  readonly digest: string | null
  readonly kty: string
  readonly crv?: string
  readonly padding?: { readonly padding: number; readonly saltLength?: number }
}

const PSS = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 }

const FOREIGN: Readonly<Record<ClientKeyAlgorithm, ForeignKind>> = {
  ES256: { digest: 'sha256', kty: 'EC', crv: 'P-256' },
  EdDSA: { digest: null, kty: 'OKP', crv: 'Ed25519' },
  Ed25519: { digest: null, kty: 'OKP', crv: 'Ed25519' },
  RS256: { digest: 'sha256', kty: 'RSA' },
  PS256: { digest: 'sha256', kty: 'RSA', padding: PSS },
}

export const clientKeyAlgorithms = Object.keys(FOREIGN) as readonly ClientKeyAlgorithm[]

/** Shorter ones are broken (RFC 7518 §3.3); longer ones, or a large exponent, would keep us busy. */
const RSA_BITS = { least: 2048, most: 4096 }
const LARGEST_EXPONENT = 2n ** 32n

/** Null unless it is a public key that this algorithm works with. */
export function importForeignKey(
  algorithm: ClientKeyAlgorithm,
  jwk: Readonly<Record<string, unknown>>,
): KeyObject | null {
  const { kty, crv } = FOREIGN[algorithm]
  if (jwk.kty !== kty || (crv !== undefined && jwk.crv !== crv)) return null
  try {
    const key = createPublicKey({ key: jwk as Record<string, string>, format: 'jwk' })
    if (kty !== 'RSA') return key
    const { modulusLength: bits = 0, publicExponent = LARGEST_EXPONENT } =
      key.asymmetricKeyDetails ?? {}
    const isSensible = bits >= RSA_BITS.least && bits <= RSA_BITS.most
    return isSensible && publicExponent < LARGEST_EXPONENT ? key : null
  } catch {
    return null
  }
}

export function verifyForeign(
  algorithm: ClientKeyAlgorithm,
  key: KeyObject,
  data: string,
  signature: Buffer,
): boolean {
  const { digest, padding } = FOREIGN[algorithm]
  const input = padding ? { key, ...padding } : keyInput(key)
  return verify(digest, Buffer.from(data), input, signature)
}

/** RFC 7638: of the key itself, however whoever sent it has spelled it. */
export function thumbprintOf(publicKey: KeyObject): string {
  const { crv, e, kty, n, x, y } = exportJwk(publicKey)
  // In the order of the alphabet; what a kind of key does not have is left out.
  return sha256(JSON.stringify({ crv, e, kty, n, x, y }))
}
