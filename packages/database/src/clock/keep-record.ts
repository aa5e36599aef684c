import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '../database.ts'
import type { ClockOptions, ClockRepair, DatabaseClock } from '../database-clock.ts'
import {
  insertRecordedTime,
  type Jump,
  judgeJump,
  leave,
  type RecordedTime,
  readRecordedTime,
  replaceRecordedTime,
  resetRecordedTime,
} from './recorded-time.ts'

/** Milliseconds between two looks at the recorded time. */
const BEAT = 5000
const LOOK_AGAIN = 1000

/** The clock of this process, as far as the recorded time concerns it. */
export interface RecordedClock extends Pick<DatabaseClock, 'observe'> {
  /** In milliseconds. */
  databaseTime(): number
  isTrusted(): boolean
  /** Never returns to a moment before `newest`, unless that was repaired. */
  follow(record: { readonly newest: number; readonly isRepaired: boolean }): void
  /** Stays this many milliseconds behind the machine's clock: the other processes do, or may. 0 for not. */
  stayBehind(milliseconds: number, isSure: boolean): void
  /** So many milliseconds have passed while no process was there to see. */
  skip(milliseconds: number): void
}

export interface RecordKeeper extends Pick<DatabaseClock, 'begin' | 'repair'> {
  end(): Promise<void>
}

/** Compares the time with the newest that is recorded, at the beginning and every few seconds, and records it. */
export function keepRecord(
  database: Database,
  { maxSkew, records }: ClockOptions,
  clock: RecordedClock,
): RecordKeeper {
  const hasOwnClock = !database.dialect.isLocal
  let changed = { newest: Number.NaN, at: 0 }
  let repairs: number | null = null
  let jump: Jump = 'none'
  let hasSeenOthers = false
  let isMember = false
  let beginning: Promise<void> | null = null
  let beating: Promise<unknown> = Promise.resolve()
  let timer: ReturnType<typeof setTimeout> | undefined
  let ended = false

  /** Null when another process has changed the record meanwhile: look again. */
  async function look(): Promise<Jump | null> {
    const askedAt = performance.now()
    const record = await readRecordedTime(database)
    if (!record) {
      if (!records || !clock.isTrusted()) return 'none'
      await insertRecordedTime(database, clock.databaseTime())
      return null
    }
    const isChanged = takeIn(record, askedAt)
    hasSeenOthers = jump === 'wrong' && (hasSeenOthers || isChanged)
    const ahead = clock.databaseTime() - record.newest
    jump = judgeJump({
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

  /** Says whether another process has changed the record since the last look. */
  function takeIn(record: RecordedTime, askedAt: number): boolean {
    const { newest } = record
    clock.observe(record.now, askedAt)
    clock.follow({ newest, isRepaired: repairs !== null && repairs !== record.repairs })
    repairs = record.repairs
    if (changed.newest === newest) return false
    changed = { newest, at: performance.now() }
    return true
  }

  /** False when another process was faster. */
  async function write(record: RecordedTime): Promise<boolean> {
    if (!records) return true
    const time = clock.isTrusted() ? Math.max(record.newest, clock.databaseTime()) : record.newest
    const newest = time - record.newest < BEAT / 2 ? record.newest : time
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
  async function compare(): Promise<void> {
    while (!ended) {
      if ((await look()) === null) continue
      if (jump !== 'wrong' || hasSeenOthers) break
      // Either another process brings the record up to date, or none does for a while.
      await sleep(LOOK_AGAIN)
    }
    if (records) beatLater()
  }

  function beatLater(): void {
    if (ended) return
    timer = setTimeout(() => {
      // A failure shows as a reading that grows old; the next one may not fail.
      beating = look().then(beatLater, beatLater)
    }, BEAT)
    timer.unref?.()
  }

  return {
    begin() {
      beginning ??= compare().catch((error) => {
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
      if (record) takeIn(record, askedAt)
      const now = new Date(record?.newest ?? clock.databaseTime())
      return { before: before && new Date(before.newest), now }
    },
    async end() {
      ended = true
      clearTimeout(timer)
      await beginning?.catch(() => {})
      await beating
      clearTimeout(timer)
      // Should it fail, the next process waits a moment longer.
      if (isMember) await leave(database).catch(() => {})
    },
  }
}
