import type { ServerContext } from '../../context.ts'
import { areSecretsEqual, sha256, verifyByClientKey } from '../../crypto.ts'
import {
  InvalidDpopProof,
  InvalidToken,
  type ProofErrorOptions,
  UseDpopNonce,
} from '../../errors.ts'
import type { DpopNonces } from './nonces.ts'
import { type ProofKey, type ProofKeyCache, parseJwtPart } from './proof-key.ts'
import type { ReplayDetector } from './replays.ts'
import type { DpopSettings } from './settings.ts'

/** The contents of a DPoP proof (RFC 9449 §4.2). */
interface Proof {
  readonly jti: string
  readonly method: string
  readonly url: string
  /** Creation time, in milliseconds. */
  readonly madeAt: number
  /** Hash of the access token that the proof is for. `null` if there is none. */
  readonly tokenHash: string | null
  readonly nonce: string | null
  readonly thumbprint: string
  /**
   * Verifies the signature with the key in the header. Called last, because it costs more than all
   * other checks.
   */
  isGenuine(): boolean
}

const SHAPE = /^([\w-]+)\.([\w-]+)\.([\w-]+)$/
/** Largest accepted proof. One with a 4096-bit RSA key has about two thousand characters. */
const MAX_PROOF_LENGTH = 8 * 1024
const MAX_TEXT_LENGTH = 2048

/**
 * Parses a proof. Returns `null` if it is malformed, incomplete, or has a key that is not accepted.
 */
function readProof(text: string, keys: ProofKeyCache): Proof | null {
  if (text.length > MAX_PROOF_LENGTH) return null
  const [, header, payload, signature] = SHAPE.exec(text) ?? []
  if (!header || !payload || !signature) return null
  const key = keys.read(header)
  const claims = key && parseJwtPart(payload)
  if (!claims) return null
  const { jti, htm, htu, iat, ath, nonce } = claims
  if (!isText(jti) || !isText(htm) || !isText(htu)) return null
  if (typeof iat !== 'number' || !Number.isFinite(iat)) return null
  if (ath !== undefined && !isText(ath)) return null
  if (nonce !== undefined && !isText(nonce)) return null
  return {
    jti,
    method: htm,
    url: htu,
    madeAt: iat * 1000,
    tokenHash: ath ?? null,
    nonce: nonce ?? null,
    thumbprint: key.thumbprint,
    isGenuine() {
      const isSigned = verifySignature(key, `${header}.${payload}`, signature)
      if (isSigned) keys.remember(header, key)
      return isSigned
    },
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= MAX_TEXT_LENGTH
}

function verifySignature({ algorithm, key }: ProofKey, data: string, signature: string): boolean {
  return verifyByClientKey(algorithm, key, data, Buffer.from(signature, 'base64url'))
}

/**
 * Accepted age without nonces, in milliseconds. Long, because clients' clocks are often wrong and a
 * proof cannot be replayed anyway.
 */
const MAX_AGE_MS = 5 * 60_000
const MAX_FUTURE_MS = 60_000

/** The request that a DPoP proof must have been made for. */
export interface ExpectedRequest {
  readonly method: string
  readonly path: string
  readonly origins: readonly string[]
  /**
   * The presented access token, and the thumbprint it is bound to. `null` if the request has no
   * token.
   */
  readonly token: { readonly text: string; readonly key: string } | null
}

export interface ProofChecker {
  readonly settings: DpopSettings
  readonly keys: ProofKeyCache
  readonly nonces: DpopNonces
  readonly replays: ReplayDetector
}

/**
 * Checks all rules for a DPoP proof (RFC 9449 §4.3) and returns the thumbprint of its key.
 * @throws InvalidDpopProof, InvalidToken or UseDpopNonce if the proof is not accepted
 */
export async function checkProof(
  text: string,
  expectedRequest: ExpectedRequest,
  checker: ProofChecker,
  context: ServerContext,
): Promise<string> {
  const { settings, keys, replays } = checker
  const asChallenge: ProofErrorOptions = expectedRequest.token
    ? { algorithms: settings.algorithms }
    : {}
  const refuse = (why: string) => new InvalidDpopProof(`The DPoP proof ${why}`, asChallenge)

  const proof = readProof(text, keys)
  if (!proof) throw refuse('is malformed, or is signed with an unsupported algorithm')
  if (proof.method !== expectedRequest.method) throw refuse('is for another method')
  if (!matchesHtu(proof.url, expectedRequest.origins, expectedRequest.path))
    throw refuse('is for another URL')
  if (expectedRequest.token && !isAbout(proof, expectedRequest.token.text))
    throw refuse('is for another token')
  const until = settings.nonces
    ? requireNonce(proof, checker, context, asChallenge)
    : computeProofEnd(proof, context)
  if (until === null) throw refuse('is too old, or its iat is in the future')
  if (!proof.isGenuine()) throw refuse('is not signed by the key that it names')
  if (expectedRequest.token && !areSecretsEqual(proof.thumbprint, expectedRequest.token.key)) {
    throw new InvalidToken('The access token is bound to another key', { scheme: 'DPoP' })
  }
  const where = expectedRequest.token ? settings.guardReplays : 'everywhere'
  const isFirst = await replays.claim({ ...toUsedProof(proof), until }, where, context)
  if (!isFirst) throw refuse('was used before')
  return proof.thumbprint
}

const toUsedProof = ({ jti, thumbprint }: Proof) => ({ jti, thumbprint })

function isAbout({ tokenHash }: Proof, accessToken: string): boolean {
  return tokenHash !== null && areSecretsEqual(tokenHash, sha256(accessToken))
}

/**
 * Requires a valid nonce (RFC 9449 §8), which determines the age of the proof regardless of the
 * client's clock. Returns when the nonce expires, in milliseconds.
 */
function requireNonce(
  { nonce }: Proof,
  { nonces }: ProofChecker,
  context: ServerContext,
  options: ProofErrorOptions,
): number {
  const end = nonce === null ? null : nonces.endOf(nonce, context)
  if (end !== null) return end
  const message = 'The DPoP proof needs the nonce from the DPoP-Nonce header of this response'
  throw new UseDpopNonce(message, nonces.current(context), options)
}

/** Returns when the proof expires, in milliseconds. `null` if it is too old or from the future. */
function computeProofEnd({ madeAt }: Proof, { clock }: ServerContext): number | null {
  const age = clock.now().getTime() - madeAt
  return age > MAX_AGE_MS || age < -MAX_FUTURE_MS ? null : madeAt + MAX_AGE_MS
}

/**
 * Whether `htu`, the URL in a DPoP proof, is the URL of the request (RFC 9449 §4.3). Ignores query,
 * fragment and differences in spelling (RFC 3986 §6.2.2 and §6.2.3). `bases` are the accepted base
 * URLs before `path`.
 */
export function matchesHtu(htu: string, bases: readonly string[], path: string): boolean {
  if (!path.startsWith('/')) return false
  if (bases.some((base) => htu === base + path)) return true
  const named = canonical(htu)
  return named !== null && bases.some((base) => canonical(base + path) === named)
}

function canonical(text: string): string | null {
  if (!URL.canParse(text)) return null
  const { protocol, username, password, origin, pathname } = new URL(text)
  if (protocol !== 'https:' && protocol !== 'http:') return null
  if (username !== '' || password !== '') return null
  return origin + pathname.replace(/%[0-9a-f]{2}/gi, normalizeEscape)
}

/**
 * Decodes an escaped unreserved character (`%7E` is `~`). Other characters stay encoded, in upper
 * case.
 */
function normalizeEscape(escaped: string): string {
  const character = String.fromCharCode(Number.parseInt(escaped.slice(1), 16))
  return /[\w.~-]/.test(character) ? character : escaped.toUpperCase()
}
