import type { FailedAttempt } from './storage/queue.ts'
import type { Clock } from './values/clock.ts'
import type { Logger } from './values/logger.ts'
import type { Observe } from './values/observer.ts'

/**
 * A background worker that processes the entries of a queue. Several processes may work on the same
 * queue.
 */
export interface QueueWorker {
  /** Processes entries until none is due. */
  process(): Promise<void>
  /** Starts processing without waiting for it. */
  kick(): void
  /** Waits for the entries that are being processed, and starts no others. */
  stop(): Promise<void>
}

export interface WorkerSettings {
  readonly clock: Clock
  readonly logger: Logger
  /** Number of attempts before an entry is given up. */
  readonly attempts: number
  /** Seconds between checks for due entries. `null` for no checks. */
  readonly everySeconds: number | null
  /** Longest back-off between attempts, in seconds. @default 6 hours */
  readonly longestPause?: number
  /**
   * Resolves once the migrations have run. Needed because the worker's timer may fire before
   * billing is first used.
   */
  ready(): Promise<void>
  /** Observes each attempt to process an entry. */
  readonly observe?: Observe | undefined
}

interface RetryableEntry {
  readonly id: number
  readonly attempts: number
}

/** The queue that a worker processes, and the functions that process its entries. */
export interface WorkerTask<Entry extends RetryableEntry> {
  /** Kind of entry for log messages, such as `webhook`. */
  readonly what: string
  readonly queue: {
    listDue(at: Date, limit: number): Promise<number[]>
    claim(id: number, at: Date, until: Date): Promise<Entry | null>
    finish(id: number, state: 'done', at: Date): Promise<unknown>
    fail(id: number, failure: FailedAttempt): Promise<void>
  }
  /** Processes one entry. */
  work?(entry: Entry): Promise<void>
  /**
   * Alternative to `work`: processes all claimed entries together. Returns one value per entry, in
   * the same order: the error, or `null` if the entry was processed.
   */
  workTogether?(entries: readonly Entry[]): Promise<readonly unknown[]>
  /** Runs before the queue is processed, at most once an hour. */
  hourly?(): Promise<void>
  /** Describes an entry for log messages. */
  nameOf(entry: Entry): string
  /**
   * Returns when to retry after a number of attempts, the last of which failed with `error`, or
   * `null` to give up.
   * @default exponential back-off over about 32 hours, up to the `attempts` of the settings
   */
  retryAt?(attempts: number, now: Date, error: unknown): Date | null
}

const HOUR = 3_600_000
const BATCH = 100
const CONCURRENCY = 8
/** Milliseconds after which an entry claimed by a killed process becomes due again. */
const CLAIM_MS = 10 * 60_000

export function createWorker<Entry extends RetryableEntry>(
  settings: WorkerSettings,
  work: WorkerTask<Entry>,
): QueueWorker {
  const { clock, logger, everySeconds } = settings
  let running: Promise<void> | null = null
  let runAgain = false
  let stopped = false

  async function drain(): Promise<void> {
    await settings.ready()
    await clock.check?.()
    await runHourly()
    do {
      runAgain = false
      for (;;) {
        const due = await work.queue.listDue(clock.now(), BATCH)
        if (due.length === 0 || stopped) break
        if (work.workTogether) await processEntries(settings, work, due)
        else
          for (let at = 0; at < due.length && !stopped; at += CONCURRENCY) {
            await Promise.all(
              due.slice(at, at + CONCURRENCY).map((id) => processEntry(settings, work, id)),
            )
          }
      }
    } while (runAgain && !stopped)
    // In the same step as the last check: a caller that arrives in between would wait for a run
    // that finds nothing.
    running = null
  }

  let lastHourly = Number.NEGATIVE_INFINITY
  async function runHourly(): Promise<void> {
    const now = clock.now().getTime()
    if (!work.hourly || now - lastHourly < HOUR) return
    await work.hourly()
    lastHourly = now
  }

  function process(): Promise<void> {
    runAgain = true
    running ??= drain().catch((error) => {
      running = null
      throw error
    })
    return running
  }

  const kick = () => {
    if (stopped) return
    process().catch((error) => {
      // The clock reports the reason itself; another process does the work.
      if (!isClockNotTrusted(error)) logger.error(`The ${work.what} queue could not be read`, error)
    })
  }
  const timer = everySeconds === null ? null : setInterval(kick, everySeconds * 1000)
  timer?.unref()

  return {
    process,
    kick,
    async stop() {
      stopped = true
      if (timer) clearInterval(timer)
      await running?.catch(() => undefined)
    },
  }
}

async function processEntry<Entry extends RetryableEntry>(
  settings: WorkerSettings,
  work: WorkerTask<Entry>,
  id: number,
): Promise<void> {
  const entry = await claim(settings, work, id)
  if (!entry) return
  try {
    await observed(settings, work, entry)
    await work.queue.finish(id, 'done', settings.clock.now())
  } catch (error) {
    await scheduleEntryRetry(settings, work, entry, error)
  }
}

function observed<Entry extends RetryableEntry>(
  { observe }: WorkerSettings,
  { what, work, nameOf }: WorkerTask<Entry>,
  entry: Entry,
): Promise<void> | undefined {
  if (!observe || !work) return work?.(entry)
  return observe({ kind: 'job', queue: what, entry: nameOf(entry) }, () => work(entry))
}

async function processEntries<Entry extends RetryableEntry>(
  settings: WorkerSettings,
  work: WorkerTask<Entry>,
  ids: readonly number[],
): Promise<void> {
  const entries: Entry[] = []
  for (let at = 0; at < ids.length; at += CONCURRENCY) {
    const some = ids.slice(at, at + CONCURRENCY).map((id) => claim(settings, work, id))
    for (const entry of await Promise.all(some)) if (entry) entries.push(entry)
  }
  if (entries.length === 0) return
  const together = async () => work.workTogether?.(entries)
  const working = settings.observe
    ? settings.observe({ kind: 'job', queue: work.what, entry: null }, together)
    : together()
  const errors = await working.catch((error) => entries.map(() => error))
  for (const [at, entry] of entries.entries()) {
    const error = errors?.[at] ?? null
    if (error === null) await work.queue.finish(entry.id, 'done', settings.clock.now())
    else await scheduleEntryRetry(settings, work, entry, error)
  }
}

function claim<Entry extends RetryableEntry>(
  { clock }: WorkerSettings,
  { queue }: WorkerTask<Entry>,
  id: number,
): Promise<Entry | null> {
  const now = clock.now()
  return queue.claim(id, now, new Date(now.getTime() + CLAIM_MS))
}

async function scheduleEntryRetry<Entry extends RetryableEntry>(
  settings: WorkerSettings,
  { what, queue, nameOf, retryAt = createBackOffSchedule(settings) }: WorkerTask<Entry>,
  entry: Entry,
  error: unknown,
): Promise<void> {
  const attempts = entry.attempts + 1
  const dueAt = retryAt(attempts, settings.clock.now(), error)
  await queue.fail(entry.id, { error: describe(error), attempts, dueAt })
  const name = `${what.charAt(0).toUpperCase()}${what.slice(1)} ${nameOf(entry)}`
  settings.logger.error(`${name} failed, attempt ${attempts}`, error)
}

/**
 * Returns a function that calculates the time of the next attempt by exponential back-off: after 5,
 * 20, 80 … seconds, up to the longest pause. The function returns `null` after the last attempt.
 */
export function createBackOffSchedule({
  attempts: maxAttempts,
  longestPause = 6 * 3600,
}: WorkerSettings): (attempts: number, now: Date) => Date | null {
  return (attempts, now) =>
    attempts >= maxAttempts
      ? null
      : addSecondsWithJitter(now, Math.min(5 * 4 ** (attempts - 1), longestPause))
}

/** Adds seconds to a date, plus up to 10 % jitter to spread out simultaneous retries. */
export function addSecondsWithJitter(now: Date, seconds: number): Date {
  return new Date(now.getTime() + Math.round(seconds * 1000 * (1 + Math.random() / 10)))
}

function isClockNotTrusted(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'TOLLGATE_CLOCK_NOT_TRUSTED'
}

function describe(error: unknown): string {
  return (error instanceof Error ? `${error.name}: ${error.message}` : String(error)).slice(0, 2000)
}
