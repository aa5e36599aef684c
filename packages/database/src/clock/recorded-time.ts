import type { Database } from '../database.ts'
import { createColumns } from '../schema/columns.ts'
import { createTable } from '../schema/tables.ts'
import { insertIfAbsent } from '../writes/portable.ts'
import { databaseNow } from './database-now.ts'

const TABLE = 'tollgate_clock'
/** The only row. */
const NAME = 'clock'

/** Milliseconds after which a record that stands still shows that no process keeps it up to date. */
export const QUIET = 12_000

/** The newest time that a process has recorded in the database. */
export interface RecordedTime {
  readonly newest: number
  /** Processes that have opened an SQLite file and not closed it; those that were killed are among them. */
  readonly members: number
  /** Grows with each repair, by which running processes notice it. */
  readonly repairs: number
  /** The database's time when it was read. */
  readonly now: number
}

/** Creates the table in which processes record the time, if it is not there. Belongs in a migration. */
export async function createClockTable(database: Database): Promise<void> {
  const columns = createColumns(database)
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

/** Returns null before the first process has recorded anything. */
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

/** Records the first time; does nothing if there is a record. */
export async function insertRecordedTime(database: Database, newest: number): Promise<void> {
  await insertIfAbsent(database, TABLE, { name: NAME, newest, members: 0, repairs: 0 })
}

/** False when another process has changed the record since `read` was read. */
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

/** Says that this process is gone. */
export async function leave(database: Database): Promise<void> {
  await database.kysely
    .updateTable(TABLE)
    .set((eb) => ({ members: eb('members', '-', 1) }))
    .where('name', '=', NAME)
    .where('members', '>', 0)
    .execute()
}

/** Records the present time, although a later one is recorded. */
export async function resetRecordedTime(database: Database): Promise<void> {
  await database.kysely
    .updateTable(TABLE)
    .set((eb) => ({ newest: databaseNow(database), repairs: eb('repairs', '+', 1) }))
    .where('name', '=', NAME)
    .execute()
}

export interface Distance {
  /** Milliseconds from the newest recorded time to the present one. */
  readonly ahead: number
  readonly maxSkew: number
  /** Whether the database has a clock of its own, which all processes ask. */
  readonly hasOwnClock: boolean
  /** Whether another process may have the file open. */
  readonly hasOthers: boolean
  /** Whether others were seen to record another time, so that this process knows itself to be wrong. */
  readonly hasSeenOthers: boolean
  /** Milliseconds since the record was seen to change. */
  readonly quietFor: number
}

/**
 * What it means that the present time is later than the newest that is recorded.
 *
 * - `none`: the record is up to date
 * - `pause`: no process was there to record the time
 * - `wrong`: other processes record another time, or may still do so
 */
export type Jump = 'none' | 'pause' | 'wrong'

/** Tells a wrong clock from a pause. SQLite has no clock of its own: see docs/decisions/0023-clocks.md. */
export function judgeJump(distance: Distance): Jump {
  if (distance.hasOwnClock || distance.ahead <= distance.maxSkew) return 'none'
  if (distance.hasSeenOthers) return 'wrong'
  return distance.hasOthers && distance.quietFor < QUIET ? 'wrong' : 'pause'
}
