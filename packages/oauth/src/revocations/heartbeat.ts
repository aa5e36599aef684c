import { NotPrimary } from '@tollgate/database'
import type { RevocationRepository } from '../storage/repositories.ts'

/** Milliseconds between two beats of a process. Whichever comes first writes for all. */
const BEAT_EVERY = 2000
/** How far, in milliseconds, the server that is read may be behind the one that takes writes. */
const TOLERANCE = 1000

export interface Heartbeat {
  /** Beats if it is time to. Only the first beat is waited for: before it, nothing shows that a server is behind. */
  pulse(): Promise<void> | null
  /**
   * Whether the server may be relied on that showed this beat to a read which began at that moment of the monotonic
   * clock. False if it should be read again in a moment: it has not shown yet that it is not behind.
   * @throws NotPrimary when it lacks a beat that was committed over a second before
   */
  accepts(beat: number | null | undefined, startedAt: number): boolean
}

/**
 * Notices a replica that takes writes, and therefore does not say that it is one: behind a proxy that sends reads and
 * writes to different servers, what this process has committed does not show in what it reads. A beat that fails asks
 * for nothing: while no writes are taken, nothing is revoked either.
 */
export function createHeartbeat({ beat }: Pick<RevocationRepository, 'beat'>): Heartbeat {
  /** The newest beat that is known to be committed, since when, and the one before. */
  let committed: {
    readonly beat: number
    readonly at: number
    readonly before: number
  } | null = null
  let begunAt: number | null = null
  /** Whether the server that is read has kept up so far. Only then it may be a little late. */
  let isTrusted = false

  async function write(beat: () => Promise<number>): Promise<void> {
    try {
      // After a failover the count may be lower than before.
      const count = await beat()
      committed = { beat: count, at: performance.now(), before: committed?.beat ?? 0 }
    } catch {
      // Whether the server can be relied on is for the read to tell.
    }
  }

  return {
    pulse() {
      const now = performance.now()
      if (!beat || (begunAt !== null && now - begunAt < BEAT_EVERY)) return null
      const isFirst = begunAt === null
      begunAt = now
      const written = write(beat)
      return isFirst ? written : null
    },
    accepts(seen, startedAt) {
      const count = seen ?? 0
      if (!committed || count >= committed.beat) {
        isTrusted = committed !== null
        return true
      }
      const isLate = startedAt - committed.at >= TOLERANCE || count < committed.before
      if (isTrusted && !isLate) return true
      if (performance.now() - committed.at < TOLERANCE) return false
      isTrusted = false
      throw new NotPrimary('that is read is behind the one that takes writes')
    },
  }
}
