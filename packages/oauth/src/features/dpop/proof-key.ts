import { createRecentCache, type RecentCache } from '../../caches/recent-cache.ts'
import {
  type ClientKeyAlgorithm,
  importForeignKey,
  type KeyObject,
  thumbprintOf,
} from '../../crypto.ts'

/** The key that a proof is signed with, as its header gives it. */
export interface ProofKey {
  readonly algorithm: ClientKeyAlgorithm
  readonly key: KeyObject
  /** RFC 7638. */
  readonly thumbprint: string
}

export interface ProofKeys {
  /** Null unless the header is that of a proof, with a public key for an algorithm that is taken. */
  read(header: string): ProofKey | null
  /** A proof with this header was found good, so there will be more of them. */
  remember(header: string, key: ProofKey): void
}

const REMEMBERED = 2000
/** Of RFC 7517 and RFC 7518: what must never be told to anybody. */
const PRIVATE: readonly string[] = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k', 'priv']

/** A client has one header for all its proofs. To read it again each time would cost as much as the signature. */
export function createProofKeys(algorithms: readonly ClientKeyAlgorithm[]): ProofKeys {
  const known: RecentCache<ProofKey> = createRecentCache(REMEMBERED)
  return {
    read: (header) => known.get(header) ?? parseHeader(header, algorithms),
    remember: (header, key) => known.set(header, key),
  }
}

function parseHeader(header: string, algorithms: readonly ClientKeyAlgorithm[]): ProofKey | null {
  const parsed = parseObject(header)
  const { typ, alg, jwk, crit } = parsed ?? {}
  if (typ !== 'dpop+jwt' || crit !== undefined || !isObject(jwk)) return null
  const algorithm = algorithms.find((name) => name === alg)
  if (!algorithm || PRIVATE.some((member) => member in jwk)) return null
  const key = importForeignKey(algorithm, jwk)
  return key && { algorithm, key, thumbprint: thumbprintOf(key) }
}

/** One part of a JWT; null unless it is an object in JSON. */
export function parseObject(encoded: string): Record<string, unknown> | null {
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
