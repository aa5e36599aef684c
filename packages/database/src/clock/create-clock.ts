import type { Database } from '../database.ts'
import type { ClockOptions, DatabaseClock } from '../database-clock.ts'
import { ClockNotTrusted } from '../errors.ts'
import { readServerTime } from './database-now.ts'
import { createClockEstimate } from './estimate.ts'
import { keepTimeRecord } from './keep-record.ts'

/** Milliseconds after which a reading of the database's clock is too old to rely on. */
const OLDEST_READING = 30_000
/**
 * Milliseconds by which the monotonic and the wall clock of this process may drift apart. If they
 * differ by more, one of them must have been set.
 */
const LARGEST_STEP = 1000
const DAY = 24 * 3600 * 1000

/**
 * A `DatabaseClock` with additional methods, which only the `Database` that owns the clock may
 * call.
 */
export interface ManagedDatabaseClock extends DatabaseClock {
  /** Reads the database's clock and updates the estimate. */
  measure(): Promise<void>
  /**
   * Stops recording the time, and subtracts this process from the number of processes in the time
   * record.
   */
  end(): Promise<void>
}

interface Problem {
  readonly kind: 'unread' | 'unsure' | 'ahead of others' | 'went back' | 'apart'
  readonly message: string
}

/**
 * Creates a process's view of the database's clock: the last reading of that clock plus the time
 * that the process's own monotonic clock has counted since. The wall clock of the process is only
 * compared with the result, never used as the time.
 */
export function createDatabaseClock(
  database: Database,
  options: ClockOptions,
): ManagedDatabaseClock {
  const { maxSkew } = options
  const estimate = createClockEstimate()
  const listeners = new Set<{ readonly tell: (problem: string | null) => void }>()
  let reading = { monotonic: Number.NEGATIVE_INFINITY, wall: 0 }
  let problem: Problem | null = null
  /** The latest moment that was returned. `now()` never returns an earlier one. */
  let floor = 0
  /** Milliseconds by which this machine's clock is ahead of the other processes on an SQLite file. */
  let ahead = 0
  /** Whether other processes were seen to record the earlier time. */
  let isAheadOfOthers = false
  let unseen = { milliseconds: 0, until: 0 }

  const databaseTime = () => performance.now() + estimate.offset()

  function now(): Date {
    const time = Math.floor(databaseTime() - ahead)
    if (time <= floor) return new Date(floor)
    // A wrong time must not become the floor: this process could not return from it.
    if (problem === null) floor = time
    return new Date(time)
  }

  /**
   * Whether the last reading is too old. While a machine is suspended, its monotonic clock stands
   * still but its wall clock continues. A reading from before the suspension therefore counts as
   * old, too.
   */
  function isOld(): boolean {
    const age = performance.now() - reading.monotonic
    return age > OLDEST_READING || Math.abs(Date.now() - reading.wall - age) > LARGEST_STEP
  }

  function findProblem(): Problem | null {
    if (isOld()) return { kind: 'unread', message: "The database's clock could not be read lately" }
    if (ahead > 0 && !isAheadOfOthers) {
      const message = `The newest time recorded in the database is ${inSeconds(ahead)} old. This process waits a few seconds to see whether other processes still record the time`
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
    if (before?.kind !== problem?.kind) {
      // A listener may remove itself or others.
      for (const { tell } of [...listeners]) tell(problem?.message ?? null)
    }
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

  const { begin, repair, end } = keepTimeRecord(database, options, {
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
    // Between two readings, only a clock that was set can change the verdict, and `isOld()` detects
    // that.
    check: () => (problem === null && !isOld() ? null : recheck()),
    observe,
    measure,
    onChange(listener) {
      // The same function may be passed twice, and each call has its own removal.
      const entry = { tell: listener }
      listeners.add(entry)
      if (problem) listener(problem.message)
      return () => void listeners.delete(entry)
    },
    begin,
    repair,
    end,
  }
}

function inSeconds(milliseconds: number): string {
  return `${Math.round(milliseconds / 1000)} s`
}
