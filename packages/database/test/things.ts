import {
  type Columns,
  type ConnectOptions,
  createTable,
  type Database,
  migrate,
} from '@tollgate/database'
import {
  createTestDatabase,
  type TestDatabase,
} from '../../../test-support/create-test-database.ts'

export interface Thing {
  id: string
  name: string | null
  owner: string | null
  amount: number
  done_at: number | null
  flagged: number
}

export interface Tables {
  things: Thing
}

export const things = {
  id: '001-things',
  up: (database: Database, columns: Columns) =>
    createTable(database, 'things', {
      columns: {
        id: columns.id,
        name: columns.string(200).nullable(),
        owner: columns.text.nullable(),
        amount: columns.integer,
        done_at: columns.instant.nullable(),
        flagged: columns.flag,
      },
      primaryKey: ['id'],
      unique: { things_by_name: ['name'] },
      indexes: { things_by_end: ['done_at'] },
    }),
}

/** One table with a column of each kind. */
export async function createThings(database: Database): Promise<void> {
  await migrate(database, { name: 'things', migrations: [things] })
}

/** A new database with that table, and nothing in it. */
export async function createThingsDatabase(options: ConnectOptions = {}): Promise<TestDatabase> {
  const test = await createTestDatabase(options)
  await createThings(test.database)
  return test
}

export function thing(id: string, rest: Partial<Thing> = {}): Thing {
  return { id, name: null, owner: null, amount: 0, done_at: null, flagged: 0, ...rest }
}

export async function insertThings(database: Database<Tables>, ...rows: Thing[]): Promise<void> {
  for (const row of rows) await database.kysely.insertInto('things').values(row).execute()
}

export async function findThings(database: Database<Tables>): Promise<Thing[]> {
  return database.kysely.selectFrom('things').selectAll().orderBy('id').execute()
}

export async function findThing(database: Database<Tables>, id: string): Promise<Thing | null> {
  const rows = await database.kysely.selectFrom('things').selectAll().where('id', '=', id).execute()
  return rows[0] ?? null
}
