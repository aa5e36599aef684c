import { TemporarilyUnavailable } from '../errors.ts'
import type {
  NewRevocation,
  Revocation,
  RevocationKind,
  RevocationRepository,
} from '../storage/repositories.ts'
import { createCursor } from './cursor.ts'

const POLL_EVERY = 250
/** A verdict may rest on what was read within this time, so that a revocation holds after a second. */
const FRESH_FOR = 900
const PAGE = 1000

/** What is refused for as long as it could have lived. The other kinds tell of something else. */
type RevokedKind = Extract<RevocationKind, 'token' | 'client' | 'session'>

export interface RevocationFeed {
  /** Whether all that was revoked over a second ago is known here. */
  isFresh(): boolean
  /** Reads what is new; fails closed when the store is away. */
  sync(): Promise<void>
  /** Takes in what this process itself has just committed, without waiting for the next read. */
  note(entry: NewRevocation): void
  isRevoked(kind: RevokedKind, subject: string): boolean
  /** The moment a person's sign-ins were last ended, in milliseconds, or 0. */
  endedAt(userId: string): number
  /** How many ends of sign-ins were read here so far: a mark for endedMeanwhile(). */
  endings(): number
  /** Whether this person's sign-ins were ended after the mark, on whatever process, and before this call. */
  endedMeanwhile(userId: string, mark: number): Promise<boolean>
  onNotice(kind: RevocationKind, listener: (subject: string) => void): void
  /** Part of every read: while it fails, nothing counts as known. */
  onSync(step: () => Promise<void> | null): void
  /** Nothing that expired by this moment, in milliseconds, may live, whatever the clock says now. */
  endedBefore(): number
  start(): void
  stop(): void
}

/**
 * Follows the feed of revocations, so that a guarded request needs no database read. Monotonic time
 * decides freshness: a changed system clock must not make old knowledge look new.
 */
export function followRevocations(
  repository: Pick<RevocationRepository, 'readAfter'>,
): RevocationFeed {
  const revoked: Record<RevokedKind, Map<string, number>> = {
    token: new Map(),
    client: new Map(),
    session: new Map(),
  }
  const userEnds = new Map<string, { at: number; until: number; order: number }>()
  const listeners = new Map<RevocationKind, Array<(subject: string) => void>>()
  const steps: Array<() => Promise<void> | null> = []
  const cursor = createCursor()
  /** What was noted comes again with the next read, and must not count as another ending then. */
  const noted = new Set<string>()
  let endings = 0
  let endedBefore = 0
  let syncedAt = Number.NEGATIVE_INFINITY
  let running: Promise<void> | null = null
  let upcoming: Promise<void> | null = null
  let timer: ReturnType<typeof setTimeout> | null = null
  let stopped = true

  function apply(entry: NewRevocation): void {
    const until = entry.until.getTime()
    if (entry.kind === 'user') {
      const known = userEnds.get(entry.subject)
      const at = Math.max(known?.at ?? 0, entry.at.getTime())
      endings += 1
      userEnds.set(entry.subject, {
        at,
        until: Math.max(known?.until ?? 0, until),
        order: endings,
      })
    } else if (entry.kind === 'ended') {
      endedBefore = Math.max(endedBefore, entry.at.getTime())
      forgetEnded()
    } else if (Object.hasOwn(revoked, entry.kind)) {
      revoked[entry.kind as RevokedKind].set(entry.subject, until)
    }
    for (const listener of listeners.get(entry.kind) ?? []) listener(entry.subject)
  }

  function note(entry: NewRevocation): void {
    if (entry.kind === 'user') {
      const isRead = userEnds.get(entry.subject)?.at === entry.at.getTime()
      if (isRead) return
      noted.add(endingOf(entry))
    }
    apply(entry)
  }

  function takeIn(entry: Revocation): void {
    const isNoted = entry.kind === 'user' && noted.delete(endingOf(entry))
    if (!isNoted) apply(entry)
  }

  /** What concerned only things that ended need not be known any more. */
  function forgetEnded(): void {
    for (const subjects of Object.values(revoked)) {
      for (const [key, until] of subjects) if (until < endedBefore) subjects.delete(key)
    }
    for (const [key, { until }] of userEnds) if (until < endedBefore) userEnds.delete(key)
  }

  async function read(): Promise<void> {
    const startedAt = performance.now()
    let after = cursor.position()
    for (;;) {
      const page = await repository.readAfter(after, PAGE)
      for (const entry of page) if (cursor.isNew(entry)) takeIn(entry)
      const last = page.at(-1)
      if (!last || page.length < PAGE) break
      after = last.id
    }
    cursor.advance(startedAt)
    for (const step of steps) await step()
    syncedAt = startedAt
  }

  const isFresh = () => performance.now() - syncedAt < FRESH_FOR

  async function sync(): Promise<void> {
    if (running) {
      await running
      // It may have begun long before it was asked for here; then only a new one will do.
      if (isFresh()) return
    }
    running ??= read()
      .catch((cause) => {
        throw new TemporarilyUnavailable('The service cannot check tokens right now', { cause })
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
      await (running ?? sync())
    })
    return upcoming
  }

  function poll(): void {
    if (stopped) return
    // A failed read shows as staleness to whoever asks next; the next round tries again.
    timer = setTimeout(() => sync().then(poll, poll), POLL_EVERY)
    timer.unref?.()
  }

  return {
    sync,
    note,
    isFresh,
    isRevoked: (kind, subject) => revoked[kind].has(subject),
    endedAt: (userId) => userEnds.get(userId)?.at ?? 0,
    endings: () => endings,
    async endedMeanwhile(userId, mark) {
      await catchUp()
      return (userEnds.get(userId)?.order ?? 0) > mark
    },
    onNotice(kind, listener) {
      listeners.set(kind, [...(listeners.get(kind) ?? []), listener])
    },
    onSync(step) {
      steps.push(step)
    },
    endedBefore: () => endedBefore,
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

const endingOf = ({ subject, at }: NewRevocation) => `${at.getTime()} ${subject}`
