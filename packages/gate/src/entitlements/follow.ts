import type { Logger } from '../context.ts'
import { GateUnavailable } from '../errors.ts'
import type { ChangeEntry, ChangeSource } from './changes.ts'

const POLL_EVERY = 250
/** How long the result of a read may be relied on, so that a change takes effect within a second. */
const MAX_AGE = 900
const READ_TIMEOUT = 2000
const PAGE = 1000
/**
 * Milliseconds for which entries are read again: a transaction that began earlier may commit an
 * entry with a smaller id later.
 */
const LATE_COMMITS = 30_000

/**
 * Reads lists of changed plans in the background, so that requests need not query the database for
 * them.
 */
export interface Follower {
  /** Whether this process has read all changes that are older than a second. */
  isFresh(): boolean
  /**
   * Reads new changes, within two seconds.
   * @throws GateUnavailable if the database is unavailable or too slow
   */
  sync(): Promise<void>
  start(): void
  stop(): void
}

interface FollowOptions {
  readonly sources: readonly ChangeSource[]
  readonly logger: Logger
  onChange(subject: string): void
  /** The database lost part of the history, as after a restore: all that was read may be wrong. */
  onBreak(): void
}

export function followChanges({ sources, logger, onChange, onBreak }: FollowOptions): Follower {
  const readers = sources.map((source) => createReader(source, onChange))
  let syncedAt = Number.NEGATIVE_INFINITY
  let syncedAtDate = 0
  let running: Promise<void> | null = null
  let timer: ReturnType<typeof setTimeout> | null = null
  let stopped = true

  async function read(): Promise<void> {
    const startedAt = performance.now()
    const startedAtDate = Date.now()
    for (const reader of readers) {
      if (await reader.read()) continue
      logger.error(
        'The database has lost part of the changes of plans (a failover or a restore). Every plan is determined again.',
      )
      onBreak()
      await reader.read()
    }
    syncedAt = startedAt
    syncedAtDate = startedAtDate
  }

  /** Two clocks: the wall clock may be set back, and the monotonic one stops during a suspension. */
  const isFresh = () =>
    performance.now() - syncedAt < MAX_AGE && Math.abs(Date.now() - syncedAtDate) < MAX_AGE

  function load(): Promise<void> {
    running ??= read().finally(() => {
      running = null
    })
    return running
  }

  async function sync(): Promise<void> {
    let timeout: ReturnType<typeof setTimeout> | undefined
    const tooLong = new Promise<never>((_, reject) => {
      timeout = setTimeout(() => reject(new Error('Reading changes took too long')), READ_TIMEOUT)
    })
    const work = load().then(() => (isFresh() ? undefined : load()))
    try {
      await Promise.race([work, tooLong])
    } catch (cause) {
      work.catch(() => {})
      throw new GateUnavailable('The plan of the caller cannot be determined right now', { cause })
    } finally {
      clearTimeout(timeout)
    }
  }

  function poll(): void {
    if (stopped) return
    // A failed read makes this outdated, which the next request notices; the next poll tries again.
    timer = setTimeout(() => load().then(poll, poll), POLL_EVERY)
    timer.unref?.()
  }

  return {
    isFresh,
    sync,
    start() {
      if (!stopped) return
      stopped = false
      poll()
    },
    stop() {
      stopped = true
      if (timer) clearTimeout(timer)
    },
  }
}

/** Reads one source. `read()` returns `false` if an entry that was read before is gone or another. */
function createReader(source: ChangeSource, onChange: (subject: string) => void) {
  /** The id from which the next read begins, and the entries from there on that were read. */
  let from = 0
  let seen = new Map<number, string>()
  let isFirst = true

  async function readEntries(): Promise<{ entries: ChangeEntry[]; now: Date }> {
    const entries: ChangeEntry[] = []
    let next = from
    for (;;) {
      const page = await source.readFrom(next, PAGE)
      entries.push(...page.entries)
      const last = page.entries.at(-1)
      if (!last || page.entries.length < PAGE) return { entries, now: page.now }
      next = last.id + 1
    }
  }

  return {
    async read(): Promise<boolean> {
      const { entries, now } = await readEntries()
      const found = new Map(entries.map((entry) => [entry.id, describe(entry)]))
      if ([...seen].some(([id, text]) => found.get(id) !== text)) {
        from = 0
        seen = new Map()
        isFirst = true
        return false
      }
      for (const { id, subject } of entries) {
        // Nothing is cached from before the first read.
        if (!isFirst && !seen.has(id)) onChange(subject)
      }
      isFirst = false
      const settled = entries.findLast(
        ({ changedAt }) => changedAt.getTime() < now.getTime() - LATE_COMMITS,
      )
      from = settled?.id ?? from
      seen = new Map([...found].filter(([id]) => id >= from))
      return true
    },
  }
}

const describe = ({ subject, changedAt }: ChangeEntry) => `${changedAt.getTime()} ${subject}`
