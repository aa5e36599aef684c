import type { Revocation } from '../storage/repositories.ts'

/** Longer than any transaction of ours may live (the database ends idle ones after 5 s). */
const GAP_PATIENCE = 15_000
/**
 * An entry this much younger proves that a hole before it was left by a purge or a rollback. Far more
 * than the clocks of two processes are apart, since each entry carries the time of its own.
 */
const SETTLED = 3_600_000

export interface FeedCursor {
  /** All entries up to this id are known. */
  position(): number
  isNew(entry: Revocation): boolean
  /** Moves over everything known, up to the first hole that may still be filled. */
  advance(monotonicNow: number): void
}

/**
 * Ids are handed out in order but commit in any order, so a reader that only asks for "after the
 * largest I saw" would miss one that commits late. This one stays before a hole until it is old.
 */
export function createCursor(): FeedCursor {
  const seen = new Map<number, { at: number; firstSeen: number | null }>()
  let position = 0
  let newest = 0

  return {
    position: () => position,
    isNew(entry) {
      if (seen.has(entry.id)) return false
      seen.set(entry.id, { at: entry.at.getTime(), firstSeen: null })
      newest = Math.max(newest, entry.at.getTime())
      return true
    },
    advance(now) {
      for (const id of [...seen.keys()].sort((a, b) => a - b)) {
        const entry = seen.get(id)
        if (!entry) continue
        entry.firstSeen ??= now
        const settled = newest - entry.at > SETTLED || now - entry.firstSeen > GAP_PATIENCE
        if (id !== position + 1 && !settled) return
        position = id
        seen.delete(id)
      }
    },
  }
}
