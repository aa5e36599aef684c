import { findNotPrimaryError } from '@tollgate/database'
import { TemporarilyUnavailable } from '../errors.ts'
import type { Logger } from '../logger.ts'
import type { RevocationFeedPage, RevocationKind } from '../storage/records.ts'
import type { RevocationRepository } from '../storage/repositories.ts'
import { createFeedCursor } from './cursor.ts'
import { createFeedHeartbeat } from './heartbeat.ts'
import { createKnownRevocations, type KnownRevocations } from './known-revocations.ts'

const POLL_EVERY = 250
/**
 * How long the result of a read may be relied on, in milliseconds, so that a revocation takes
 * effect within a second.
 */
const MAX_AGE = 900
/**
 * How long a request waits for a read, in milliseconds, because reading a whole feed may take a
 * while. Longer if the store has a longer timeout.
 */
const READ_TIMEOUT = 2000
const GRACE = 500
/**
 * Milliseconds until every process has read an entry, and the requests that it accepted before then
 * have stored their tokens.
 */
const SETTLING_TIME = MAX_AGE + GRACE
const PAGE = 1000
/** Milliseconds to wait before reading again from a server that may lag slightly behind. */
const REREAD_DELAY = 50

export interface RevocationFeed
  extends Pick<
    KnownRevocations,
    'note' | 'isRevoked' | 'isSignedOut' | 'signOutMark' | 'afterSignOuts' | 'endedBefore'
  > {
  /** Whether this process knows all revocations that are older than one second. */
  isFresh(): boolean
  /** Reads all new entries of the revocation feed, without a time limit. */
  load(): Promise<void>
  /**
   * Reads all new entries of the revocation feed, within a time limit.
   * @throws TemporarilyUnavailable if the store is unavailable or too slow
   */
  sync(): Promise<void>
  /**
   * Whether any process has signed the user out everywhere since `mark`, a result of
   * `signOutMark()`.
   * @throws TemporarilyUnavailable if the store is unavailable or too slow
   */
  signedOutSince(userId: string, mark: number): Promise<boolean>
  /**
   * Waits until every process knows what was committed before this call, and has answered the
   * requests that it accepted before then.
   */
  settled(): Promise<void>
  /**
   * Returns the approximate time of the store's clock, in milliseconds. Never later than the actual
   * time.
   */
  storeNow(): number
  onNotice(kind: RevocationKind, listener: (subject: string) => void): void
  /**
   * Calls the listener when the store has lost part of its history, so that data cached from it may
   * be outdated.
   */
  onBreak(listener: () => void): void
  /**
   * Adds a step that runs with every read of the revocation feed. While the step fails, `isFresh()`
   * returns `false`.
   */
  onSync(step: () => Promise<void> | null): void
  start(): void
  stop(): void
}

interface FeedOptions {
  /** Maximum duration of one call of the store, in milliseconds. */
  readonly storeTimeout?: number | undefined
  /**
   * Calls `run` once the transaction of the caller is committed. @default calls `run` immediately
   */
  readonly afterCommit?: ((run: () => void) => void) | undefined
}

/**
 * Follows the revocation feed, so that guarded requests need no database read. Freshness is
 * measured by two clocks: the system clock may be set back, and the monotonic clock stops while a
 * machine is suspended.
 */
export function followRevocations(
  repository: Pick<RevocationRepository, 'readFrom' | 'beat'>,
  logger: Logger,
  { storeTimeout = 0, afterCommit = (run) => run() }: FeedOptions = {},
): RevocationFeed {
  const timeout = Math.max(READ_TIMEOUT, storeTimeout + GRACE)
  const listeners = new Map<RevocationKind, Array<(subject: string) => void>>()
  const breakListeners: Array<() => void> = []
  const steps: Array<() => Promise<void> | null> = []
  const known = createKnownRevocations((kind, subject) => {
    for (const listener of listeners.get(kind) ?? []) listener(subject)
  })
  const heartbeat = createFeedHeartbeat(repository)
  let cursor = createFeedCursor()
  let clock = { storeNow: 0, readAt: 0 }
  let syncedAt = Number.NEGATIVE_INFINITY
  /** The system clock continues while a machine is suspended, unlike the monotonic one. */
  let syncedAtDate = 0
  let running: Promise<void> | null = null
  let upcoming: Promise<void> | null = null
  let timer: ReturnType<typeof setTimeout> | null = null
  let stopped = true
  let isRefused = false

  /** Reads all new entries. Returns `false` if the store contradicts what was read before. */
  async function readNewEntries(startedAt: number): Promise<boolean> {
    cursor.begin(startedAt)
    let from = cursor.position()
    for (;;) {
      const page = await readPage(from, startedAt)
      clock = { storeNow: page.now.getTime(), readAt: performance.now() }
      if (!takeIn(page)) return false
      cursor.advance(clock.storeNow)
      const last = page.entries.at(-1)
      if (!last || page.entries.length < PAGE) break
      // Reads the last entry of a page again with the next page, to detect a lost history between
      // the two.
      from = last.id
    }
    return cursor.sawAll()
  }

  async function readPage(from: number, startedAt: number): Promise<RevocationFeedPage> {
    for (;;) {
      const page = await repository.readFrom(from, PAGE)
      if (heartbeat.accepts(page.beat, startedAt)) return page
      await new Promise((resolve) => setTimeout(resolve, REREAD_DELAY))
    }
  }

  function takeIn({ entries }: RevocationFeedPage): boolean {
    for (const entry of entries) {
      const verdict = cursor.compare(entry)
      if (verdict === 'other') return false
      if (verdict === 'new') known.takeIn(entry)
    }
    return true
  }

  async function read(): Promise<void> {
    await heartbeat.pulse()
    const startedAt = performance.now()
    const startedAtDate = Date.now()
    if (!(await readNewEntries(startedAt))) {
      restart()
      if (!(await readNewEntries(startedAt))) {
        restart()
        throw new Error('The history of revocations changed again while it was read')
      }
    }
    for (const step of steps) await step()
    syncedAt = startedAt
    syncedAtDate = startedAtDate
    if (!isRefused) return
    isRefused = false
    const text = 'The database server is the primary again: tokens are checked as usual.'
    if (logger.warn) logger.warn(text)
    else logger.error(text)
  }

  /**
   * Logs once that the server is not the primary, because reads are repeated four times a second.
   */
  function logRefusal(cause: unknown): void {
    const refusal = findNotPrimaryError(cause)
    if (!refusal || isRefused) return
    isRefused = true
    logger.error(
      `${refusal.message}. It may not know all revocations, so every token is rejected with 503 until the primary is read again.`,
    )
  }

  /** Reads the whole feed again. Known revocations are kept, even those that the store has lost. */
  function restart(): void {
    syncedAt = Number.NEGATIVE_INFINITY
    cursor = createFeedCursor()
    for (const listener of breakListeners) listener()
    logger.error(
      'The database has lost part of its revocations (a failover, a restore, or ids that started over). All revocations are being read again, and every token is rejected until that is done. The production guide describes what to do after a restore.',
    )
  }

  const isFresh = () =>
    performance.now() - syncedAt < MAX_AGE && Date.now() - syncedAtDate < MAX_AGE

  async function load(): Promise<void> {
    if (running) {
      await running
      // The shared read may have begun long before this call. If it is outdated, a new one is
      // needed.
      if (isFresh()) return
    }
    running ??= read()
      .catch((cause) => {
        logRefusal(cause)
        throw unavailable(cause)
      })
      .finally(() => {
        running = null
      })
    return running
  }

  /**
   * Reads everything that was committed before this call. Calls in the same turn of the event loop
   * share one read.
   */
  function catchUp(): Promise<void> {
    upcoming ??= new Promise((resolve) => setImmediate(resolve)).then(async () => {
      upcoming = null
      // A read in progress may have begun too early.
      if (running) await running.catch(() => {})
      await (running ?? load())
    })
    return upcoming
  }

  function poll(): void {
    if (stopped) return
    // A failed read makes the feed outdated, which the next request notices; the next poll tries
    // again.
    timer = setTimeout(() => load().then(poll, poll), POLL_EVERY)
    timer.unref?.()
  }

  return {
    ...known,
    // An entry that is undone with its transaction must not take effect in this process.
    note: (entry) => afterCommit(() => known.note(entry)),
    load,
    isFresh,
    sync: () => withTimeout(load(), timeout),
    async signedOutSince(userId, mark) {
      await withTimeout(catchUp(), timeout)
      return known.signedOutAfter(userId, mark)
    },
    settled: () => new Promise((resolve) => setTimeout(resolve, SETTLING_TIME)),
    storeNow: () => clock.storeNow + Math.floor(performance.now() - clock.readAt),
    onNotice(kind, listener) {
      listeners.set(kind, [...(listeners.get(kind) ?? []), listener])
    },
    onBreak(listener) {
      breakListeners.push(listener)
    },
    onSync(step) {
      steps.push(step)
    },
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

function unavailable(cause: unknown): TemporarilyUnavailable {
  return new TemporarilyUnavailable('The service cannot check tokens right now', { cause })
}

async function withTimeout(reading: Promise<void>, timeout: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const tooLong = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(unavailable(new Error('Reading the revocation feed took too long'))),
      timeout,
    )
  })
  try {
    await Promise.race([reading, tooLong])
  } finally {
    clearTimeout(timer)
  }
}
