import { createRecentCache, type RecentCache } from '../../caches/recent-cache.ts'
import {
  type ClientKeyAlgorithm,
  computeThumbprint,
  importClientKey,
  type KeyObject,
} from '../../crypto.ts'

/** The public key in the header of a DPoP proof. */
export interface ProofKey {
  readonly algorithm: ClientKeyAlgorithm
  readonly key: KeyObject
  /** Thumbprint of the key (RFC 7638). */
  readonly thumbprint: string
}

export interface ProofKeyCache {
  /**
   * Parses the JWT header of a DPoP proof. Returns `null` unless it is a valid one, with a public
   * key for an accepted algorithm.
   */
  read(header: string): ProofKey | null
  /**
   * Caches the key of a DPoP proof by its header. Call it after the proof was verified; the client
   * will send more proofs with the same header.
   */
  remember(header: string, key: ProofKey): void
}

const CACHE_SIZE = 2000
/** Private members of RFC 7517 and RFC 7518 keys, which clients must not send. */
const PRIVATE: readonly string[] = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k', 'priv']

/**
 * Creates a cache of parsed DPoP keys by JWT header. A client sends the same header with all its
 * proofs, and parsing it takes as long as verifying a signature.
 */
export function createProofKeyCache(algorithms: readonly ClientKeyAlgorithm[]): ProofKeyCache {
  const known: RecentCache<ProofKey> = createRecentCache(CACHE_SIZE)
  return {
    read: (header) => known.get(header) ?? parseHeader(header, algorithms),
    remember: (header, key) => known.set(header, key),
  }
}

function parseHeader(header: string, algorithms: readonly ClientKeyAlgorithm[]): ProofKey | null {
  const parsed = parseJwtPart(header)
  const { typ, alg, jwk, crit } = parsed ?? {}
  if (typ !== 'dpop+jwt' || crit !== undefined || !isObject(jwk)) return null
  const algorithm = algorithms.find((name) => name === alg)
  if (!algorithm || PRIVATE.some((member) => member in jwk)) return null
  const key = importClientKey(algorithm, jwk)
  return key && { algorithm, key, thumbprint: computeThumbprint(key) }
}

/** Decodes one part of a JWT. Returns `null` unless it is a JSON object. */
export function parseJwtPart(encoded: string): Record<string, unknown> | null {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(encoded, 'base64url').toString('utf8'))
    return isObject(parsed) ? parsed : null
  } catch {
    return null
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
