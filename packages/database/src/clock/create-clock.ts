import type { Database } from '../database.ts'
import type { ClockOptions, DatabaseClock } from '../database-clock.ts'
import { ClockNotTrusted } from '../errors.ts'
import { readServerTime } from './database-now.ts'
import { createEstimate } from './estimate.ts'
import { keepRecord } from './keep-record.ts'

/** Milliseconds after which a reading of the database's clock is too old to rely on. */
const OLDEST_READING = 30_000
/** Milliseconds by which the two clocks of this process may run apart until one of them must have stepped. */
const LARGEST_STEP = 1000
const DAY = 24 * 3600 * 1000

/** A clock with the parts that only its database uses. */
export interface OwnedClock extends DatabaseClock {
  /** Reads the database's clock. */
  measure(): Promise<void>
  /** Stops recording the time, and records that this process is gone. */
  end(): Promise<void>
}

interface Problem {
  readonly kind: 'unread' | 'unsure' | 'ahead of others' | 'went back' | 'apart'
  readonly message: string
}

/**
 * The time of a process is the last reading of the database's clock plus what its own monotonic clock has counted since.
 * Its wall clock is never asked for the time, only whether it agrees.
 */
export function createDatabaseClock(database: Database, options: ClockOptions): OwnedClock {
  const { maxSkew } = options
  const estimate = createEstimate()
  const listeners: Array<(problem: string | null) => void> = []
  let reading = { monotonic: Number.NEGATIVE_INFINITY, wall: 0 }
  let problem: Problem | null = null
  /** No moment before this one comes again. */
  let floor = 0
  /** Milliseconds by which this machine's clock is ahead of the other processes on an SQLite file. */
  let ahead = 0
  /** Whether the other processes were seen to keep that time. */
  let isAheadOfOthers = false
  let unseen = { milliseconds: 0, until: 0 }

  const databaseTime = () => performance.now() + estimate.offset()

  function now(): Date {
    const time = Math.floor(databaseTime() - ahead)
    if (time <= floor) return new Date(floor)
    // A time that is not to be trusted must not keep this process there.
    if (problem === null) floor = time
    return new Date(time)
  }

  /** The monotonic clock stands still while a machine is suspended; then the two clocks run apart. */
  function isOld(): boolean {
    const age = performance.now() - reading.monotonic
    return age > OLDEST_READING || Math.abs(Date.now() - reading.wall - age) > LARGEST_STEP
  }

  function findProblem(): Problem | null {
    if (isOld()) return { kind: 'unread', message: "The database's clock could not be read lately" }
    if (ahead > 0 && !isAheadOfOthers) {
      const message = `The newest time recorded in the database is ${inSeconds(ahead)} old. Whether other processes keep it shows within seconds`
      return { kind: 'unsure', message }
    }
    if (ahead > 0) {
      const message = `The clock of this process is ${inSeconds(ahead)} ahead of the time that other processes record in the database`
      return { kind: 'ahead of others', message }
    }
    const time = databaseTime()
    if (floor - time > maxSkew) {
      const message = `The database's clock is ${inSeconds(floor - time)} behind the newest time recorded in the database. Correct it; if it is right now, run tollgate clock repair, or database.clock.repair()`
      return { kind: 'went back', message }
    }
    const apart = Date.now() - time
    if (Math.abs(apart) <= maxSkew) return null
    const direction = apart > 0 ? 'ahead of' : 'behind'
    const message = `The clock of this process is ${inSeconds(Math.abs(apart))} ${direction} the database's. At most ${inSeconds(maxSkew)} are allowed`
    return { kind: 'apart', message }
  }

  function judge(): Problem | null {
    const before = problem
    problem = findProblem()
    if (before?.kind !== problem?.kind) listeners[0]?.(problem?.message ?? null)
    return problem
  }

  function observe(milliseconds: number, askedAt: number): void {
    const monotonic = performance.now()
    estimate.observe(milliseconds, askedAt, monotonic)
    reading = { monotonic, wall: Date.now() }
    judge()
  }

  async function measure(): Promise<void> {
    const askedAt = performance.now()
    observe((await readServerTime(database)).getTime(), askedAt)
  }

  async function recheck(): Promise<void> {
    if (isOld()) await measure()
    const found = judge()
    if (found) throw new ClockNotTrusted(found.message)
  }

  const { begin, repair, end } = keepRecord(database, options, {
    databaseTime: () => Math.floor(databaseTime()),
    isTrusted: () => problem === null,
    observe,
    follow({ newest, isRepaired }) {
      floor = isRepaired ? newest : Math.max(floor, newest)
      judge()
    },
    stayBehind(milliseconds, isSure) {
      ahead = milliseconds
      isAheadOfOthers = isSure
      judge()
    },
    skip(milliseconds) {
      unseen = { milliseconds, until: performance.now() + DAY }
    },
  })

  return {
    now,
    settled() {
      const skipped = performance.now() < unseen.until ? unseen.milliseconds : 0
      return new Date(now().getTime() - skipped)
    },
    isWrong: () => problem !== null && problem.kind !== 'unread',
    // Between two readings only a step of a clock changes anything, which shows as an old reading.
    check: () => (problem === null && !isOld() ? null : recheck()),
    observe,
    measure,
    onChange(listener) {
      listeners.push(listener)
      if (listeners[0] === listener && problem) listener(problem.message)
      return () => void listeners.splice(listeners.indexOf(listener), 1)
    },
    begin,
    repair,
    end,
  }
}

function inSeconds(milliseconds: number): string {
  return `${Math.round(milliseconds / 1000)} s`
}
