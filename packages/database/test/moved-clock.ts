import {
  type ConnectOptions,
  connect,
  type Database,
  type Dialect,
  mysql,
  postgres,
  readServerTime,
  sqlite,
} from '@tollgate/database'
import { sql } from 'kysely'
import { onTestFinished } from 'vitest'

export interface MovedDatabase {
  readonly database: Database
  /** Moves the database's clock to this many milliseconds from the correct time, and reads it. */
  move(by: number): Promise<void>
}

/**
 * Connects to a database whose clock is wrong. With SQLite it is the clock of this process only,
 * because the file has none.
 */
export async function connectMoved(
  url: string,
  by = 0,
  options: ConnectOptions = {},
): Promise<MovedDatabase> {
  const moved = { by }
  const dialects = [sqlite, postgres, mysql].map(
    ({ schema, ...dialect }): Dialect => ({
      ...dialect,
      schema: { ...schema, now: () => sql<number>`(${schema.now()} + ${sql.lit(moved.by)})` },
    }),
  )
  const database = await connect(url, { timeout: 10_000, dialects, ...options })
  onTestFinished(() => database.close())
  return {
    database,
    async move(milliseconds) {
      moved.by = milliseconds
      const askedAt = performance.now()
      database.clock.observe((await readServerTime(database)).getTime(), askedAt)
    },
  }
}

/**
 * Reads the record of the time. `newest` is the recorded time, as its difference from the correct
 * time in milliseconds.
 */
export async function readRecord(database: Database) {
  const row = await database.kysely
    .selectFrom('tollgate_clock')
    .select(['newest', 'members'])
    .executeTakeFirstOrThrow()
  return { newest: Number(row.newest) - Date.now(), members: Number(row.members) }
}

/** Writes the record that a process with this clock would have written. */
export async function writeRecord(
  database: Database,
  record: { readonly newest: number; readonly members?: number },
): Promise<void> {
  const { newest, members = 0 } = record
  await database.kysely.deleteFrom('tollgate_clock').execute()
  await database.kysely
    .insertInto('tollgate_clock')
    .values({ name: 'clock', newest: Date.now() + newest, members, repairs: 0 })
    .execute()
}
