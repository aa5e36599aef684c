import type { ServerContext } from '../../context.ts'
import { hashTicketName } from '../../storage/tickets.ts'
import { NONCE_SLOT_MS } from './nonces.ts'

const KIND = 'dpop proof'
/** Longest time, in milliseconds, for which a proof can stay valid after it arrived. */
const MAX_LIFETIME_MS = 3 * NONCE_SLOT_MS
const MAX_IN_MEMORY = 100_000

export interface UsedProof {
  readonly jti: string
  readonly thumbprint: string
  /** When the proof expires, in milliseconds since the epoch. */
  readonly until: number
}

export interface ReplayDetector {
  /**
   * Records that a proof was used. Returns `false` if it was used before: in any process of the
   * server (`everywhere`), or in this process (`process`).
   */
  claim(proof: UsedProof, where: 'everywhere' | 'process', context: ServerContext): Promise<boolean>
}

/**
 * Creates a detector of DPoP proofs that are used a second time (RFC 9449 §11.1). A process
 * remembers used proofs in memory. For checks across processes, it inserts each proof into the
 * store, where only one insert succeeds. If the memory is full, it uses the store for all checks
 * until the remembered proofs have expired.
 */
export function createReplayDetector(maxInMemory = MAX_IN_MEMORY): ReplayDetector {
  let young = new Set<string>()
  let old = new Set<string>()
  let rotatedAt = 0
  let storeUntil = 0

  /** Drops the older half. Each half is kept for at least as long as a proof is valid. */
  function forget(now: number): void {
    // A clock that was set back does not make proofs older.
    if (now - rotatedAt < MAX_LIFETIME_MS) return
    old = now - rotatedAt < 2 * MAX_LIFETIME_MS ? young : new Set()
    young = new Set()
    rotatedAt = now
  }

  async function addToStore(hash: string, until: number, { storage }: ServerContext) {
    // A purge by another process, whose clock may be ahead, keeps the row for as long as this
    // process would accept the proof.
    const expiresAt = new Date(until)
    return storage.tickets.add({ hash, kind: KIND, content: '{}', expiresAt, holder: null })
  }

  return {
    async claim({ jti, thumbprint, until }, where, context) {
      // The key is part of the name, so that one client cannot use up another's `jti`.
      const hash = hashTicketName(KIND, `${thumbprint}\n${jti}`)
      const now = context.clock.now().getTime()
      forget(now)
      if (young.has(hash) || old.has(hash)) return false
      const isFull = young.size + old.size >= maxInMemory
      if (!isFull) young.add(hash)
      if (where === 'process' && !isFull && now >= storeUntil) return true
      if (where === 'process') storeUntil = Math.max(storeUntil, until)
      try {
        return await addToStore(hash, until, context)
      } catch (error) {
        // Nothing was stored, so a retry with the same proof must not count as a replay.
        young.delete(hash)
        throw error
      }
    },
  }
}
