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
  work(entry: Entry): Promise<void>
  /** Done before, once an hour. */
  lookAround?(): Promise<void>
  /** For the log. */
  nameOf(entry: Entry): string
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
    await lookAround()
    do {
      again = false
      for (;;) {
        const due = await work.queue.listDue(clock.now(), BATCH)
        if (due.length === 0 || stopped) break
        for (let at = 0; at < due.length; at += AT_ONCE) {
          await Promise.all(due.slice(at, at + AT_ONCE).map((id) => workOn(settings, work, id)))
        }
      }
    } while (again && !stopped)
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
    running ??= drain().finally(() => {
      running = null
    })
    return running
  }

  const kick = () => {
    if (stopped) return
    process().catch((error) => logger.error(`The ${work.what}s could not be read`, error))
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
  { what, queue, work, nameOf }: Work<Entry>,
  id: number,
): Promise<void> {
  const { clock, logger } = settings
  const now = clock.now()
  const entry = await queue.claim(id, now, new Date(now.getTime() + CLAIM))
  if (!entry) return
  try {
    await work(entry)
    await queue.finish(id, 'done', clock.now())
  } catch (error) {
    const attempts = entry.attempts + 1
    const dueAt = attempts >= settings.attempts ? null : nextAttempt(attempts, clock.now())
    await queue.fail(id, { error: describe(error), attempts, dueAt })
    const name = `${what.charAt(0).toUpperCase()}${what.slice(1)} ${nameOf(entry)}`
    logger.error(`${name} failed, attempt ${attempts}`, error)
  }
}

/** 5 s, 20 s, 80 s … up to 6 hours, each a little later, because a crowd then spreads out. */
function nextAttempt(attempts: number, now: Date): Date {
  const seconds = Math.min(5 * 4 ** (attempts - 1), 6 * 3600)
  return new Date(now.getTime() + Math.round(seconds * 1000 * (1 + Math.random() / 10)))
}

function describe(error: unknown): string {
  return (error instanceof Error ? `${error.name}: ${error.message}` : String(error)).slice(0, 2000)
}
