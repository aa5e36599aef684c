import { findNotPrimary } from '@tollgate/database'
import { TemporarilyUnavailable } from '../errors.ts'
import type { Logger } from '../logger.ts'
import type { FeedPage, RevocationKind } from '../storage/records.ts'
import type { RevocationRepository } from '../storage/repositories.ts'
import { createCursor } from './cursor.ts'
import { createHeartbeat } from './heartbeat.ts'
import { createKnownRevocations, type KnownRevocations } from './known-revocations.ts'

const POLL_EVERY = 250
/** A verdict may rest on what was read within this time, so that a revocation holds after a second. */
const FRESH_FOR = 900
/** Nobody waits longer for a read, because a whole feed may take a while; unless its store may take longer. */
const PATIENCE = 2000
const GRACE = 500
const PAGE = 1000
/** Milliseconds until a server is read again that may be a little behind. */
const READ_AGAIN = 50

export interface RevocationFeed
  extends Pick<
    KnownRevocations,
    'note' | 'isRevoked' | 'isSignedOut' | 'signOutMark' | 'afterSignOuts' | 'endedBefore'
  > {
  /** Whether all that was revoked over a second ago is known here. */
  isFresh(): boolean
  /** Reads all there is, however long it takes. */
  load(): Promise<void>
  /** Reads what is new; fails closed when the store is away, or when that takes too long. */
  sync(): Promise<void>
  /** Whether the person was signed out everywhere after the mark, on whatever process, and before this call. */
  signedOutSince(userId: string, mark: number): Promise<boolean>
  /** About now by the store's clock, in milliseconds; never later than it is there. */
  storeNow(): number
  onNotice(kind: RevocationKind, listener: (subject: string) => void): void
  /** The store has lost part of its history: what was remembered from it may be no longer so. */
  onBreak(listener: () => void): void
  /** Part of every read: while it fails, nothing counts as known. */
  onSync(step: () => Promise<void> | null): void
  start(): void
  stop(): void
}

/**
 * Follows the feed of revocations, so that a guarded request needs no database read. Both clocks decide
 * freshness: a system clock that was set back must not make old knowledge look new, nor a machine that was
 * suspended, whose monotonic clock stood still.
 */
export function followRevocations(
  repository: Pick<RevocationRepository, 'readFrom' | 'beat'>,
  logger: Logger,
  { storeTimeout = 0 }: { readonly storeTimeout?: number | undefined } = {},
): RevocationFeed {
  const patience = Math.max(PATIENCE, storeTimeout + GRACE)
  const listeners = new Map<RevocationKind, Array<(subject: string) => void>>()
  const breakListeners: Array<() => void> = []
  const steps: Array<() => Promise<void> | null> = []
  const known = createKnownRevocations((kind, subject) => {
    for (const listener of listeners.get(kind) ?? []) listener(subject)
  })
  const heartbeat = createHeartbeat(repository)
  let cursor = createCursor()
  let clock = { storeNow: 0, readAt: 0 }
  let syncedAt = Number.NEGATIVE_INFINITY
  /** By the system clock, which goes on while a machine is suspended. */
  let syncedAtDate = 0
  let running: Promise<void> | null = null
  let upcoming: Promise<void> | null = null
  let timer: ReturnType<typeof setTimeout> | null = null
  let stopped = true
  let isRefused = false

  /** False when the store contradicts what it said before. */
  async function readOn(startedAt: number): Promise<boolean> {
    cursor.begin(startedAt)
    let from = cursor.position()
    for (;;) {
      const page = await readPage(from, startedAt)
      clock = { storeNow: page.now.getTime(), readAt: performance.now() }
      if (!takeIn(page)) return false
      cursor.advance(clock.storeNow)
      const last = page.entries.at(-1)
      if (!last || page.entries.length < PAGE) break
      // With its last entry again, so that a break between two pages shows as well.
      from = last.id
    }
    return cursor.sawAll()
  }

  async function readPage(from: number, startedAt: number): Promise<FeedPage> {
    for (;;) {
      const page = await repository.readFrom(from, PAGE)
      if (heartbeat.accepts(page.beat, startedAt)) return page
      await new Promise((resolve) => setTimeout(resolve, READ_AGAIN))
    }
  }

  function takeIn({ entries }: FeedPage): boolean {
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
    if (!(await readOn(startedAt))) {
      startAnew()
      if (!(await readOn(startedAt))) {
        startAnew()
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

  /** Once for each time that the store is not the primary: it is asked four times a second. */
  function logRefusal(cause: unknown): void {
    const refusal = findNotPrimary(cause)
    if (!refusal || isRefused) return
    isRefused = true
    logger.error(
      `${refusal.message}. It may not know what was revoked, so every token is refused with 503 until then.`,
    )
  }

  /** What is known stays known: a revocation that the store has lost is still one. */
  function startAnew(): void {
    syncedAt = Number.NEGATIVE_INFINITY
    cursor = createCursor()
    for (const listener of breakListeners) listener()
    logger.error(
      'The database has lost part of its revocations (a failover, a restore, or ids that began anew). All are read again, and nobody is let in before. What to do after a restore stands in the production guide.',
    )
  }

  const isFresh = () =>
    performance.now() - syncedAt < FRESH_FOR && Date.now() - syncedAtDate < FRESH_FOR

  async function load(): Promise<void> {
    if (running) {
      await running
      // It may have begun long before it was asked for here; then only a new one will do.
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
   * Reads once more from now on, so that what was committed before this call is known after it: one read
   * for all who ask in the same turn of the event loop.
   */
  function catchUp(): Promise<void> {
    upcoming ??= new Promise((resolve) => setImmediate(resolve)).then(async () => {
      upcoming = null
      // One that is under way may have begun too early.
      if (running) await running.catch(() => {})
      await (running ?? load())
    })
    return upcoming
  }

  function poll(): void {
    if (stopped) return
    // A failed read shows as staleness to whoever asks next; the next round tries again.
    timer = setTimeout(() => load().then(poll, poll), POLL_EVERY)
    timer.unref?.()
  }

  return {
    ...known,
    load,
    isFresh,
    sync: () => withPatience(load(), patience),
    async signedOutSince(userId, mark) {
      await withPatience(catchUp(), patience)
      return known.signedOutAfter(userId, mark)
    },
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

async function withPatience(reading: Promise<void>, patience: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const tooLong = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(unavailable(new Error('Reading takes too long'))), patience)
  })
  try {
    await Promise.race([reading, tooLong])
  } finally {
    clearTimeout(timer)
  }
}
