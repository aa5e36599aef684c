import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '../database.ts'
import type { ClockOptions, ClockRepair, DatabaseClock } from '../database-clock.ts'
import {
  type ClockJump,
  classifyClockJump,
  insertRecordedTime,
  type RecordedTime,
  readRecordedTime,
  removeProcessFromRecord,
  replaceRecordedTime,
  resetRecordedTime,
} from './recorded-time.ts'

/** Milliseconds between two comparisons with the recorded time. */
const INTERVAL = 5000
const RETRY_DELAY = 1000

/**
 * The methods of this process's clock with which `keepTimeRecord()` adjusts the clock to the time
 * recorded in the database.
 */
export interface AdjustableClock extends Pick<DatabaseClock, 'observe'> {
  /** Returns the database's time in milliseconds as estimated, even if a later time is recorded. */
  databaseTime(): number
  isTrusted(): boolean
  /**
   * Makes the clock never again return a moment before `newest`, unless the record was repaired.
   */
  follow(record: { readonly newest: number; readonly isRepaired: boolean }): void
  /**
   * Makes the clock run this many milliseconds behind the machine's clock, because other processes
   * certainly (`isSure`) or possibly record an earlier time. 0 ends the delay.
   */
  stayBehind(milliseconds: number, isSure: boolean): void
  /** Tells the clock that this many milliseconds passed while no process had the database open. */
  skip(milliseconds: number): void
}

export interface TimeRecordKeeper extends Pick<DatabaseClock, 'begin' | 'repair'> {
  end(): Promise<void>
}

/**
 * Compares the database's time with the newest time recorded in the database, at the start and
 * every few seconds, and updates the recorded time.
 */
export function keepTimeRecord(
  database: Database,
  { maxSkew, records }: ClockOptions,
  clock: AdjustableClock,
): TimeRecordKeeper {
  const hasOwnClock = !database.dialect.isLocal
  let changed = { newest: Number.NaN, at: 0 }
  let repairs: number | null = null
  let jump: ClockJump = 'none'
  let hasSeenOthers = false
  let isMember = false
  let beginning: Promise<void> | null = null
  let comparing: Promise<unknown> = Promise.resolve()
  let timer: ReturnType<typeof setTimeout> | undefined
  let ended = false

  /**
   * Compares once. Returns `null` if another process changed the record in the meantime: the caller
   * must try again.
   */
  async function compareOnce(): Promise<ClockJump | null> {
    const askedAt = performance.now()
    const record = await readRecordedTime(database)
    if (!record) {
      if (!records || !clock.isTrusted()) return 'none'
      await insertRecordedTime(database, clock.databaseTime())
      return null
    }
    const isChanged = adopt(record, askedAt)
    hasSeenOthers = jump === 'wrong' && (hasSeenOthers || isChanged)
    const ahead = clock.databaseTime() - record.newest
    jump = classifyClockJump({
      ahead,
      maxSkew,
      hasOwnClock,
      hasOthers: record.members > (isMember ? 1 : 0),
      hasSeenOthers,
      quietFor: performance.now() - changed.at,
    })
    clock.stayBehind(jump === 'wrong' ? ahead : 0, hasSeenOthers)
    if (!(await write(record))) return null
    if (jump === 'pause') clock.skip(ahead)
    return jump
  }

  /** Adopts the record. Returns whether another process changed it since the last comparison. */
  function adopt(record: RecordedTime, askedAt: number): boolean {
    const { newest } = record
    clock.observe(record.now, askedAt)
    clock.follow({ newest, isRepaired: repairs !== null && repairs !== record.repairs })
    repairs = record.repairs
    if (changed.newest === newest) return false
    changed = { newest, at: performance.now() }
    return true
  }

  /** Returns `false` if another process changed the record first. */
  async function write(record: RecordedTime): Promise<boolean> {
    if (!records) return true
    const time = clock.isTrusted() ? Math.max(record.newest, clock.databaseTime()) : record.newest
    const newest = time - record.newest < INTERVAL / 2 ? record.newest : time
    const members = hasOwnClock ? record.members : countMembers(record)
    if (newest === record.newest && members === record.members) return true
    if (!(await replaceRecordedTime(database, record, { newest, members }))) return false
    isMember = !hasOwnClock
    if (changed.newest !== newest) changed = { newest, at: performance.now() }
    return true
  }

  function countMembers({ members }: RecordedTime): number {
    if (jump === 'pause') return 1
    return isMember ? members : members + 1
  }

  /** Resolves when it is known whether other processes share this time. */
  async function compareUntilSure(): Promise<void> {
    while (!ended) {
      if ((await compareOnce()) === null) continue
      if (jump !== 'wrong' || hasSeenOthers) break
      // Wait until another process updates the record, or until the record has been quiet long
      // enough to show that none does.
      await sleep(RETRY_DELAY)
    }
    if (records) scheduleComparison()
  }

  function scheduleComparison(): void {
    if (ended) return
    timer = setTimeout(() => {
      // A failed comparison is not reported: the next one may succeed, and if none does the reading
      // grows old.
      comparing = compareOnce().then(scheduleComparison, scheduleComparison)
    }, INTERVAL)
    timer.unref?.()
  }

  return {
    begin() {
      beginning ??= compareUntilSure().catch((error) => {
        beginning = null
        throw error
      })
      return beginning
    },
    async repair(): Promise<ClockRepair> {
      const before = await readRecordedTime(database)
      if (!before) await insertRecordedTime(database, clock.databaseTime())
      await resetRecordedTime(database)
      const askedAt = performance.now()
      const record = await readRecordedTime(database)
      if (record) adopt(record, askedAt)
      const now = new Date(record?.newest ?? clock.databaseTime())
      return { before: before && new Date(before.newest), now }
    },
    async end() {
      ended = true
      clearTimeout(timer)
      await beginning?.catch(() => {})
      await comparing
      clearTimeout(timer)
      // If this fails, the next process only waits a few seconds longer when it starts.
      if (isMember) await removeProcessFromRecord(database).catch(() => {})
    },
  }
}
