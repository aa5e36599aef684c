import type { ServerContext } from '../../context.ts'
import { ticketHash } from '../../storage/ticket-hash.ts'
import { NONCE_SLOT } from './nonces.ts'

const KIND = 'dpop proof'
/** No proof is good for longer after it came. */
const LONGEST_LIFE = 3 * NONCE_SLOT
const MOST_REMEMBERED = 100_000

export interface UsedProof {
  readonly jti: string
  readonly thumbprint: string
  /** When it is good no more, in milliseconds. */
  readonly until: number
}

export interface Replays {
  /** False for a proof that was here before: at any process, or at this one. */
  claim(proof: UsedProof, where: 'everywhere' | 'process', context: ServerContext): Promise<boolean>
}

/**
 * A proof counts once (RFC 9449 §11.1). What this process has seen it refuses by itself; the store decides
 * between processes by the one insert that succeeds. A memory that is full hands over to the store, and
 * asks it until what it holds has ended: what was taken once is never forgotten while it could be good.
 */
export function createReplays(most = MOST_REMEMBERED): Replays {
  let young = new Set<string>()
  let old = new Set<string>()
  let turnedAt = 0
  let storeUntil = 0

  /** Each half lives for as long as a proof at least. */
  function forget(now: number): void {
    // A clock that went back makes nothing old.
    if (now - turnedAt < LONGEST_LIFE) return
    old = now - turnedAt < 2 * LONGEST_LIFE ? young : new Set()
    young = new Set()
    turnedAt = now
  }

  async function addToStore(hash: string, until: number, { storage }: ServerContext) {
    // A purge of another process, whose clock may be ahead, leaves it for as long as this one would take it.
    const expiresAt = new Date(until)
    return storage.tickets.add({ hash, kind: KIND, content: '{}', expiresAt, holder: null })
  }

  return {
    async claim({ jti, thumbprint, until }, where, context) {
      // By its key: nobody can use up what another will send.
      const hash = ticketHash(KIND, `${thumbprint}\n${jti}`)
      const now = context.clock.now().getTime()
      forget(now)
      if (young.has(hash) || old.has(hash)) return false
      const isFull = young.size + old.size >= most
      if (!isFull) young.add(hash)
      if (where === 'process' && !isFull && now >= storeUntil) return true
      if (where === 'process') storeUntil = Math.max(storeUntil, until)
      try {
        return await addToStore(hash, until, context)
      } catch (error) {
        // Nothing was done, so whoever tries again is not taken for somebody else.
        young.delete(hash)
        throw error
      }
    },
  }
}
