/**
 * The only file of the package that uses node:crypto. It is used instead of WebCrypto because a
 * signature takes 70 µs with it and 190 µs with WebCrypto, and the token endpoint does little else
 * (docs/decisions/0003-crypto.md).
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

/** An algorithm that tokens are signed with. */
export type SigningAlgorithm = 'EdDSA' | 'ES256' | 'RS256'

interface Algorithm {
  readonly digest: string | null
  generate(): Promise<{ publicKey: KeyObject; privateKey: KeyObject }>
  /** Whether to sign on another thread: RSA takes 3 ms and would block the event loop. */
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

/** All supported signing algorithms. */
export const signingAlgorithms = Object.keys(ALGORITHMS) as readonly SigningAlgorithm[]

const SECRET_BYTES = 32
const pool = Buffer.alloc(128 * SECRET_BYTES)
let poolOffset = pool.length

/**
 * Returns 256 random bits as base64url. The bits come from a pool, because one large request to the
 * system is far cheaper than many small ones; each is used once.
 */
export function createRandomSecret(): string {
  if (poolOffset === pool.length) {
    randomFillSync(pool)
    poolOffset = 0
  }
  const bytes = pool.subarray(poolOffset, poolOffset + SECRET_BYTES)
  poolOffset += SECRET_BYTES
  const text = bytes.toString('base64url')
  bytes.fill(0)
  return text
}

/** Returns random letters of `alphabet`. For short codes that people type. */
export function createRandomLetters(alphabet: string, length: number): string {
  return Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('')
}

/** Returns a random UUID, which reveals neither when it was made nor how many there are. */
export function createRandomId(): string {
  return randomUUID()
}

export function sha256(text: string): string {
  return hash('sha256', text, 'base64url')
}

/**
 * The inner and the outer padded key of an HMAC (RFC 2104). Each is a buffer with free space after
 * the key, into which the text to hash is written.
 */
export interface MacKey {
  readonly inner: Buffer
  readonly outer: Buffer
}

const BLOCK = 64
const DIGEST = 32

/**
 * Computes HMAC-SHA-256 from two plain hashes. An `Hmac` object costs twice as much, plus the same
 * again for garbage collection; that is measurable because every request needs one.
 */
export function computeHmac({ inner, outer }: MacKey, text: string): string {
  const length = Buffer.byteLength(text)
  const message =
    length <= inner.length - BLOCK
      ? inner.subarray(0, BLOCK + inner.write(text, BLOCK))
      : Buffer.concat([inner.subarray(0, BLOCK), Buffer.from(text)])
  // `binary` is a string: allocating a Buffer for each digest takes twice as long as hashing.
  outer.write(hash('sha256', message, 'binary'), BLOCK, 'binary')
  return hash('sha256', outer, 'base64url')
}

/**
 * Returns the left half of the hash of a text, base64url-encoded, for the claims `at_hash` and
 * `c_hash` (OpenID Connect Core §3.1.3.6). Uses the hash function of the signature algorithm.
 */
export function computeLeftHalfHash(algorithm: SigningAlgorithm, text: string): string {
  const digest = hash(algorithm === 'EdDSA' ? 'sha512' : 'sha256', text, 'hex')
  return Buffer.from(digest.slice(0, digest.length / 2), 'hex').toString('base64url')
}

/**
 * Returns the SHA-256 hash of a text in base64, as Content-Security-Policy expects it for a script.
 */
export function sha256Base64(text: string): string {
  return hash('sha256', text, 'base64')
}

/**
 * Whether two texts are equal. Compares in constant time; only a difference in length, which is not
 * secret, is noticed sooner.
 */
export function areSecretsEqual(left: string, right: string): boolean {
  const a = Buffer.from(left)
  const b = Buffer.from(right)
  return a.length === b.length && timingSafeEqual(a, b)
}

/**
 * Derives a key for one purpose from a secret, so that a value made for one purpose is invalid for
 * every other.
 */
export function deriveKey(secret: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, 'tollgate', purpose, 32))
}

export function deriveMacKey(secret: string, purpose: string): MacKey {
  return createMacKey(deriveKey(secret, purpose))
}

export function createMacKey(key: Buffer): MacKey {
  const inner = Buffer.alloc(BLOCK + 2048, 0x36)
  const outer = Buffer.alloc(BLOCK + DIGEST, 0x5c)
  for (const [index, byte] of key.entries()) {
    inner[index] = byte ^ 0x36
    outer[index] = byte ^ 0x5c
  }
  return { inner, outer }
}

/**
 * Returns a time-ordered UUID (RFC 9562 version 7), so that an index on it grows at one end. Not a
 * secret. The random part comes from `randomUUID()`, which draws from a pool.
 */
export function createTimeOrderedId(now: Date): string {
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

export function derivePublicKey(privateKey: KeyObject): KeyObject {
  return createPublicKey(privateKey)
}

export function exportJwk(publicKey: KeyObject): JsonWebKey {
  return publicKey.export({ format: 'jwk' })
}

export function importPrivateKey(jwk: JsonWebKey): KeyObject {
  return createPrivateKey({ key: jwk as Record<string, string>, format: 'jwk' })
}

/**
 * Adds the option for JWS signatures: an ECDSA signature is the two numbers side by side (RFC 7518
 * §3.4), not DER.
 */
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

/**
 * An algorithm with which clients may sign request objects, assertions and proofs with their own
 * key.
 */
export type ClientKeyAlgorithm = 'ES256' | 'EdDSA' | 'Ed25519' | 'RS256' | 'PS256'

interface ClientKeyKind {
  readonly digest: string | null
  readonly kty: string
  readonly crv?: string
  readonly padding?: { readonly padding: number; readonly saltLength?: number }
}

const PSS = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 }

const CLIENT_KEYS: Readonly<Record<ClientKeyAlgorithm, ClientKeyKind>> = {
  ES256: { digest: 'sha256', kty: 'EC', crv: 'P-256' },
  EdDSA: { digest: null, kty: 'OKP', crv: 'Ed25519' },
  Ed25519: { digest: null, kty: 'OKP', crv: 'Ed25519' },
  RS256: { digest: 'sha256', kty: 'RSA' },
  PS256: { digest: 'sha256', kty: 'RSA', padding: PSS },
}

/** All algorithms with which a client's own key can sign. */
export const clientKeyAlgorithms = Object.keys(CLIENT_KEYS) as readonly ClientKeyAlgorithm[]

/**
 * Shorter RSA keys are insecure (RFC 7518 §3.3); longer ones, or a large exponent, take too long to
 * verify.
 */
const RSA_BITS = { min: 2048, max: 4096 }
const MAX_EXPONENT = 2n ** 32n

/**
 * Imports a public key of a client from a JWK. Returns `null` unless it is a public key for this
 * algorithm.
 */
export function importClientKey(
  algorithm: ClientKeyAlgorithm,
  jwk: Readonly<Record<string, unknown>>,
): KeyObject | null {
  const { kty, crv } = CLIENT_KEYS[algorithm]
  if (jwk.kty !== kty || (crv !== undefined && jwk.crv !== crv)) return null
  try {
    const key = createPublicKey({ key: jwk as Record<string, string>, format: 'jwk' })
    if (kty !== 'RSA') return key
    const { modulusLength: bits = 0, publicExponent = MAX_EXPONENT } =
      key.asymmetricKeyDetails ?? {}
    const isSensible = bits >= RSA_BITS.min && bits <= RSA_BITS.max
    return isSensible && publicExponent < MAX_EXPONENT ? key : null
  } catch {
    return null
  }
}

export function verifyByClientKey(
  algorithm: ClientKeyAlgorithm,
  key: KeyObject,
  data: string,
  signature: Buffer,
): boolean {
  const { digest, padding } = CLIENT_KEYS[algorithm]
  const input = padding ? { key, ...padding } : keyInput(key)
  return verify(digest, Buffer.from(data), input, signature)
}

/**
 * Returns the thumbprint of a public key (RFC 7638). Two JWKs of the same key have the same
 * thumbprint, even if they are written differently.
 */
export function computeThumbprint(publicKey: KeyObject): string {
  const { crv, e, kty, n, x, y } = exportJwk(publicKey)
  // RFC 7638 §3.2: members in alphabetical order. JSON.stringify leaves out those that this key
  // type does not have.
  return sha256(JSON.stringify({ crv, e, kty, n, x, y }))
}
