import type { Failure } from '../storage/queues/queue.ts'
import type { Clock } from '../values/clock.ts'
import type { Logger } from '../values/logger.ts'

/** Works off what waits in a queue, beside other processes that do the same. */
export interface Worker {
  /** Works until nothing is due. */
  process(): Promise<void>
  /** Begins to work; whoever calls does not wait. */
  kick(): void
  /** Ends what it is at, and begins nothing any more. */
  stop(): Promise<void>
}

export interface WorkerSettings {
  readonly clock: Clock
  readonly logger: Logger
  /** Attempts before something is given up. */
  readonly attempts: number
  /** Seconds between looks for what is due again; null for never. */
  readonly everySeconds: number | null
  /** The longest pause between attempts, in seconds. Default 6 hours. */
  readonly longestPause?: number
  /** Makes the tables: the timer may ring before anybody has used billing. */
  ready(): Promise<void>
}

interface Waiting {
  readonly id: number
  readonly attempts: number
}

/** What is worked on, and how. */
export interface Work<Entry extends Waiting> {
  /** For the log: `webhook`. */
  readonly what: string
  readonly queue: {
    listDue(at: Date, limit: number): Promise<number[]>
    claim(id: number, at: Date, until: Date): Promise<Entry | null>
    finish(id: number, state: 'done', at: Date): Promise<unknown>
    fail(id: number, failure: Failure): Promise<void>
  }
  /** Works on one. */
  work?(entry: Entry): Promise<void>
  /** In its place: works on all that were taken together. For each, in their order, what went wrong, or null. */
  workTogether?(entries: readonly Entry[]): Promise<readonly unknown[]>
  /** Done before, once an hour. */
  lookAround?(): Promise<void>
  /** For the log. */
  nameOf(entry: Entry): string
  /** When it is tried again after so many attempts; null to give up. Default: `attempts` of the settings, over about 32 hours. */
  retryAt?(attempts: number, now: Date): Date | null
}

const HOUR = 3_600_000
const BATCH = 100
const AT_ONCE = 8
/** A process that dies while it works on something keeps it for so long, in milliseconds. */
const CLAIM = 10 * 60_000

export function createWorker<Entry extends Waiting>(
  settings: WorkerSettings,
  work: Work<Entry>,
): Worker {
  const { clock, logger, everySeconds } = settings
  let running: Promise<void> | null = null
  let again = false
  let stopped = false

  async function drain(): Promise<void> {
    await settings.ready()
    await clock.check?.()
    await lookAround()
    do {
      again = false
      for (;;) {
        const due = await work.queue.listDue(clock.now(), BATCH)
        if (due.length === 0 || stopped) break
        if (work.workTogether) await workOnAll(settings, work, due)
        else
          for (let at = 0; at < due.length && !stopped; at += AT_ONCE) {
            await Promise.all(due.slice(at, at + AT_ONCE).map((id) => workOn(settings, work, id)))
          }
      }
    } while (again && !stopped)
    // With the last look, not a moment later: whoever calls in between would wait for work that is over.
    running = null
  }

  let lookedAt = Number.NEGATIVE_INFINITY
  async function lookAround(): Promise<void> {
    const now = clock.now().getTime()
    if (!work.lookAround || now - lookedAt < HOUR) return
    await work.lookAround()
    lookedAt = now
  }

  function process(): Promise<void> {
    again = true
    running ??= drain().catch((error) => {
      running = null
      throw error
    })
    return running
  }

  const kick = () => {
    if (stopped) return
    process().catch((error) => {
      // The clock itself tells why; another process does the work.
      if (!isClockNotTrusted(error)) logger.error(`The ${work.what}s could not be read`, error)
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

async function workOn<Entry extends Waiting>(
  settings: WorkerSettings,
  work: Work<Entry>,
  id: number,
): Promise<void> {
  const entry = await claim(settings, work, id)
  if (!entry) return
  try {
    await work.work?.(entry)
    await work.queue.finish(id, 'done', settings.clock.now())
  } catch (error) {
    await putOff(settings, work, entry, error)
  }
}

async function workOnAll<Entry extends Waiting>(
  settings: WorkerSettings,
  work: Work<Entry>,
  ids: readonly number[],
): Promise<void> {
  const entries: Entry[] = []
  for (let at = 0; at < ids.length; at += AT_ONCE) {
    const some = ids.slice(at, at + AT_ONCE).map((id) => claim(settings, work, id))
    for (const entry of await Promise.all(some)) if (entry) entries.push(entry)
  }
  if (entries.length === 0) return
  const errors = await work.workTogether?.(entries).catch((error) => entries.map(() => error))
  for (const [at, entry] of entries.entries()) {
    const error = errors?.[at] ?? null
    if (error === null) await work.queue.finish(entry.id, 'done', settings.clock.now())
    else await putOff(settings, work, entry, error)
  }
}

function claim<Entry extends Waiting>(
  { clock }: WorkerSettings,
  { queue }: Work<Entry>,
  id: number,
): Promise<Entry | null> {
  const now = clock.now()
  return queue.claim(id, now, new Date(now.getTime() + CLAIM))
}

async function putOff<Entry extends Waiting>(
  settings: WorkerSettings,
  { what, queue, nameOf, retryAt = usualRetry(settings) }: Work<Entry>,
  entry: Entry,
  error: unknown,
): Promise<void> {
  const attempts = entry.attempts + 1
  const dueAt = retryAt(attempts, settings.clock.now())
  await queue.fail(entry.id, { error: describe(error), attempts, dueAt })
  const name = `${what.charAt(0).toUpperCase()}${what.slice(1)} ${nameOf(entry)}`
  settings.logger.error(`${name} failed, attempt ${attempts}`, error)
}

/** 5 s, 20 s, 80 s … up to the longest pause. */
function usualRetry({
  attempts: most,
  longestPause = 6 * 3600,
}: WorkerSettings): (attempts: number, now: Date) => Date | null {
  return (attempts, now) =>
    attempts >= most ? null : later(now, Math.min(5 * 4 ** (attempts - 1), longestPause))
}

/** So many seconds, and up to a tenth more, because a crowd then spreads out. */
export function later(now: Date, seconds: number): Date {
  return new Date(now.getTime() + Math.round(seconds * 1000 * (1 + Math.random() / 10)))
}

function isClockNotTrusted(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'TOLLGATE_CLOCK_NOT_TRUSTED'
}

function describe(error: unknown): string {
  return (error instanceof Error ? `${error.name}: ${error.message}` : String(error)).slice(0, 2000)
}
