import type { Database } from '../database.ts'
import { createColumnDefinitions } from '../schema/columns.ts'
import { createTable } from '../schema/tables.ts'
import { insertIfAbsent } from '../writes/portable.ts'
import { databaseNow } from './database-now.ts'

const TABLE = 'tollgate_clock'
/** Primary key of the table's only row. */
const NAME = 'clock'

/** Milliseconds after which an unchanged time record shows that no process updates it. */
export const TIME_RECORD_STALE_AFTER_MS = 12_000

/** The newest time that a process has recorded in the database. */
export interface RecordedTime {
  readonly newest: number
  /**
   * Number of processes that have opened an SQLite file and not closed it. Includes processes that
   * were killed.
   */
  readonly members: number
  /**
   * Number of calls of `DatabaseClock.repair()` so far. Running processes notice a repair because
   * this number has grown.
   */
  readonly repairs: number
  /** The database's time when the record was read, in milliseconds. */
  readonly now: number
}

/**
 * Creates the table in which processes record the time, unless it exists. Call it in a migration.
 */
export async function createClockTable(database: Database): Promise<void> {
  const columns = createColumnDefinitions(database)
  await createTable(database, TABLE, {
    columns: {
      name: columns.id,
      newest: columns.instant,
      members: columns.integer,
      repairs: columns.integer,
    },
    primaryKey: ['name'],
  })
}

/** Reads the time record. Returns `null` if no process has recorded a time yet. */
export async function readRecordedTime(database: Database): Promise<RecordedTime | null> {
  const row = await database.kysely
    .selectFrom(TABLE)
    .select(['newest', 'members', 'repairs', databaseNow(database).as('now')])
    .where('name', '=', NAME)
    .executeTakeFirst()
  if (!row) return null
  return {
    newest: Number(row.newest),
    members: Number(row.members),
    repairs: Number(row.repairs),
    now: Number(row.now),
  }
}

/** Creates the time record with its first time. Does nothing if a record exists. */
export async function insertRecordedTime(database: Database, newest: number): Promise<void> {
  await insertIfAbsent(database, TABLE, { name: NAME, newest, members: 0, repairs: 0 })
}

/** Updates the time record. Returns `false` if another process changed it since it was `read`. */
export async function replaceRecordedTime(
  database: Database,
  read: RecordedTime,
  changed: Partial<Pick<RecordedTime, 'newest' | 'members'>>,
): Promise<boolean> {
  const { numUpdatedRows } = await database.kysely
    .updateTable(TABLE)
    .set(changed)
    .where('name', '=', NAME)
    .where('newest', '=', read.newest)
    .where('members', '=', read.members)
    .where('repairs', '=', read.repairs)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** Subtracts this process from the number of processes that have the SQLite file open. */
export async function removeProcessFromRecord(database: Database): Promise<void> {
  await database.kysely
    .updateTable(TABLE)
    .set((eb) => ({ members: eb('members', '-', 1) }))
    .where('name', '=', NAME)
    .where('members', '>', 0)
    .execute()
}

/** Records the database's present time, even if the recorded time is later. */
export async function resetRecordedTime(database: Database): Promise<void> {
  await database.kysely
    .updateTable(TABLE)
    .set((eb) => ({ newest: databaseNow(database), repairs: eb('repairs', '+', 1) }))
    .where('name', '=', NAME)
    .execute()
}

export interface ClockComparison {
  /** Milliseconds by which the present time is later than the newest recorded time. */
  readonly ahead: number
  readonly maxSkew: number
  /** Whether the database is a server with its own clock, which all processes read. */
  readonly hasOwnClock: boolean
  /** Whether another process may have the SQLite file open. */
  readonly hasOthers: boolean
  /**
   * Whether this process has seen others record an earlier time, which proves that its own clock is
   * wrong.
   */
  readonly hasSeenOthers: boolean
  /** Milliseconds since this process last saw the record change. */
  readonly quietFor: number
}

/**
 * Reason why the present time is later than the newest recorded time.
 *
 * - `none`: the record is up to date
 * - `pause`: no process was open to record the time
 * - `wrong`: other processes record, or may record, a different time
 */
export type ClockJump = 'none' | 'pause' | 'wrong'

/**
 * Decides whether a present time later than the recorded one means a wrong clock, or a pause in
 * which no process had the database open. See docs/decisions/0023-clocks.md.
 */
export function classifyClockJump(distance: ClockComparison): ClockJump {
  if (distance.hasOwnClock || distance.ahead <= distance.maxSkew) return 'none'
  if (distance.hasSeenOthers) return 'wrong'
  return distance.hasOthers && distance.quietFor < TIME_RECORD_STALE_AFTER_MS ? 'wrong' : 'pause'
}
