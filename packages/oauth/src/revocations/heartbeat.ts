import { NotPrimary } from '@tollgate/database'
import type { RevocationRepository } from '../storage/repositories.ts'

/** Time between two beats of a process, in milliseconds. One beat serves all processes. */
const BEAT_INTERVAL = 2000
/** How far a server may lag behind the primary, in milliseconds. */
const TOLERANCE = 1000

export interface FeedHeartbeat {
  /**
   * Increases the counter in the store (a beat) if enough time has passed since the last beat.
   * Returns a promise for the first beat, which the revocation feed must wait for, and `null` for
   * all others.
   */
  pulse(): Promise<void> | null
  /**
   * Whether a read of the revocation feed is up to date: it shows the counter that this process
   * last increased. `startedAt` is the start of the read by the monotonic clock. `false` if the
   * read should be repeated shortly, because the database server may lag slightly.
   * @throws NotPrimary if the read lacks an increase that was committed more than a second earlier
   */
  accepts(beat: number | null | undefined, startedAt: number): boolean
}

/**
 * Creates a detector of reads from a lagging database replica, for example behind a proxy that
 * sends reads and writes to different servers. It increases a counter in the store from time to
 * time, and checks that reads show it.
 */
export function createFeedHeartbeat({ beat }: Pick<RevocationRepository, 'beat'>): FeedHeartbeat {
  /** The latest beat known to be committed, when that became known, and the beat before it. */
  let committed: {
    readonly beat: number
    readonly at: number
    readonly before: number
  } | null = null
  let begunAt: number | null = null
  /** Whether the server has been up to date so far. Only then may it lag slightly. */
  let isTrusted = false

  async function write(beat: () => Promise<number>): Promise<void> {
    try {
      // The count may be lower than before after a failover.
      const count = await beat()
      committed = { beat: count, at: performance.now(), before: committed?.beat ?? 0 }
    } catch {
      // Whether the server can be relied on is for the read to tell.
    }
  }

  return {
    pulse() {
      const now = performance.now()
      if (!beat || (begunAt !== null && now - begunAt < BEAT_INTERVAL)) return null
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
      throw new NotPrimary('used for reads is behind the server that accepts writes')
    },
  }
}
