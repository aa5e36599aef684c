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
   * Returns the id up to which all entries are known. The next read begins with this entry, so that
   * it is read again.
   */
  position(): number
  /** Starts a read at this time of the monotonic clock. */
  begin(monotonicNow: number): void
  /**
   * Compares an entry with the known ones. `other` means that another entry had this id before, so
   * the store has lost part of its history.
   */
  compare(entry: Revocation): 'new' | 'known' | 'other'
  /** Whether the current read has returned all entries that it should have returned again. */
  sawAll(): boolean
  /** Moves over all known entries, up to the first gap that may still be filled. */
  advance(storeNow: number): void
}

interface Known {
  readonly mark: string
  readonly writtenAt: number
  readonly firstSeen: number
  lastRead: number
}

/**
 * Tracks how far the feed has been read. Ids are assigned in order but committed in any order, so a
 * reader that only asks for entries after the largest known id would miss one that commits late.
 * The cursor waits before a gap until it is too old to be filled.
 *
 * It also expects to read its last entry and those after a gap again each time. After a failover or
 * a restore, ids start again below it, and a reader that did not notice would miss the new entries.
 */
export function createCursor(): FeedCursor {
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
