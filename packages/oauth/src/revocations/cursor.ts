import type { Revocation } from '../storage/records.ts'

/** Longer than any transaction of ours may live (the database ends idle ones after 5 s). */
const GAP_PATIENCE = 15_000
/** When a whole feed is read, a hole before an entry this old was left by a purge or a rollback. */
const SETTLED = 3_600_000

export interface FeedCursor {
  /** All entries up to this id are known. The next read begins with it, so it is seen again. */
  position(): number
  /** Says that a read begins now, by the monotonic clock. */
  begin(monotonicNow: number): void
  /**
   * `other`: this is not the entry that was read under its id before, so the store has lost what it
   * had said and begun to say something else.
   */
  compare(entry: Revocation): 'new' | 'known' | 'other'
  /** Whether the read that ends here has shown again all that it had to. */
  sawAll(): boolean
  /** Moves over everything known, up to the first hole that may still be filled. */
  advance(storeNow: number): void
}

interface Known {
  readonly identity: string
  readonly writtenAt: number | null
  readonly firstSeen: number
  lastRead: number
}

/**
 * Ids are handed out in order but commit in any order, so a reader that only asks for "after the
 * largest I saw" would miss one that commits late. This one stays before a hole until it is old.
 *
 * It also remembers the entry it stands on and those behind a hole, and wants to see them again with
 * each read: after a failover or a restore the ids begin anew below it, and it would miss what they say.
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
      const identity = identityOf(entry)
      const before = known.get(entry.id)
      if (before) {
        before.lastRead = reads
        return before.identity === identity ? 'known' : 'other'
      }
      const writtenAt = entry.writtenAt?.getTime() ?? null
      known.set(entry.id, { identity, writtenAt, firstSeen: now, lastRead: reads })
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
        const age = storeNow - (entry.writtenAt ?? storeNow)
        const settled = (isWhole && age > SETTLED) || now - entry.firstSeen > GAP_PATIENCE
        if (id !== position + 1 && !settled) return
        known.delete(position)
        position = id
      }
    },
  }
}

/** An entry of an older version has no mark. */
function identityOf({ mark, kind, subject, at, until }: Revocation): string {
  return mark ?? `${kind} ${at.getTime()} ${until.getTime()} ${subject}`
}
