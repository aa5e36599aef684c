import type { Revocation } from '../storage/records.ts'

/**
 * How long to wait for a gap in the ids to be filled, in milliseconds. Longer than any of our
 * transactions can live, because the database ends idle ones after 5 s.
 */
const GAP_TIMEOUT = 15_000
/**
 * Age of an entry, in milliseconds, from which a gap before it is final: it was left by a purge or
 * a rollback. Applies only when the whole feed is read.
 */
const SETTLED_AGE = 3_600_000

export interface FeedCursor {
  /**
   * Returns the id up to which all entries of the revocation feed are known. The next read begins
   * with that entry.
   */
  position(): number
  /** Starts a read of the revocation feed, at this time of the monotonic clock. */
  begin(monotonicNow: number): void
  /**
   * Compares an entry of the revocation feed with those read before. `other`: an earlier read had a
   * different entry with this id, so the store has lost part of its history.
   */
  compare(entry: Revocation): 'new' | 'known' | 'other'
  /**
   * Whether the current read has returned all entries that earlier reads returned and that must
   * appear again.
   */
  sawAll(): boolean
  /**
   * Moves the position forward over all known entries, up to the first missing id whose entry may
   * still be committed.
   */
  advance(storeNow: number): void
}

interface Known {
  readonly mark: string
  readonly writtenAt: number
  readonly firstSeen: number
  lastRead: number
}

/**
 * Creates a cursor that tracks how far the revocation feed has been read. Ids are assigned in order
 * but committed in any order, so a missing id may appear later. The cursor therefore waits before a
 * missing id until its entry can no longer be committed.
 *
 * Each read returns the last known entry again. If it is missing or different, the store has lost
 * part of its history in a failover or restore.
 */
export function createFeedCursor(): FeedCursor {
  const known = new Map<number, Known>()
  let position = 0
  let reads = 0
  let now = 0
  let isWhole = true

  return {
    position: () => position,
    begin(monotonicNow) {
      now = monotonicNow
      reads += 1
      isWhole = position === 0
    },
    compare(entry) {
      const before = known.get(entry.id)
      if (before) {
        before.lastRead = reads
        return before.mark === entry.mark ? 'known' : 'other'
      }
      known.set(entry.id, {
        mark: entry.mark,
        writtenAt: entry.writtenAt.getTime(),
        firstSeen: now,
        lastRead: reads,
      })
      return 'new'
    },
    sawAll() {
      for (const { lastRead } of known.values()) if (lastRead !== reads) return false
      return true
    },
    advance(storeNow) {
      const ids = [...known.keys()].filter((id) => id > position).sort((a, b) => a - b)
      for (const id of ids) {
        const entry = known.get(id)
        if (!entry) continue
        const age = storeNow - entry.writtenAt
        const settled = (isWhole && age > SETTLED_AGE) || now - entry.firstSeen > GAP_TIMEOUT
        if (id !== position + 1 && !settled) return
        known.delete(position)
        position = id
      }
    },
  }
}
