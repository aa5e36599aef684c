import type { Database } from '../../database.ts'
import { migrate } from '../../migrate.ts'
import type { ColumnDefinitions } from '../../schema/columns.ts'
import type { StoredTimestamp } from '../../schema/fields.ts'
import { createTable } from '../../schema/tables.ts'
import type { ContractDatabase } from './part.ts'

/** A row of a table with a column of each kind. */
export interface ThingRow {
  id: string
  name: string | null
  owner: string | null
  amount: number
  done_at: number | null
  seen_at: StoredTimestamp | null
  flagged: number
}

export interface TestTables {
  things: ThingRow
}

export const thingsMigration = {
  id: '001-things',
  up: (database: Database, columns: ColumnDefinitions) =>
    createTable(database, 'things', {
      columns: {
        id: columns.id,
        name: columns.string(200).nullable(),
        owner: columns.text.nullable(),
        amount: columns.integer,
        done_at: columns.instant.nullable(),
        seen_at: columns.timestamp.nullable(),
        flagged: columns.flag,
      },
      primaryKey: ['id'],
      unique: { things_by_name: ['name'] },
      indexes: { things_by_end: ['done_at'] },
    }),
}

export function createThing(id: string, rest: Partial<ThingRow> = {}): ThingRow {
  return {
    id,
    name: null,
    owner: null,
    amount: 0,
    done_at: null,
    seen_at: null,
    flagged: 0,
    ...rest,
  }
}

export async function insertThings(
  database: Database<TestTables>,
  ...rows: ThingRow[]
): Promise<void> {
  for (const row of rows) await database.kysely.insertInto('things').values(row).execute()
}

export async function findThings(database: Database<TestTables>): Promise<ThingRow[]> {
  const rows = await database.kysely.selectFrom('things').selectAll().orderBy('id').execute()
  // Some drivers return rows as instances of their own class.
  return rows.map((row) => ({ ...row }))
}

export async function findThing(
  database: Database<TestTables>,
  id: string,
): Promise<ThingRow | null> {
  const rows = await findThings(database)
  return rows.find((row) => row.id === id) ?? null
}

/** Longer timeout than the default, because machines that run tests are busy. */
const PATIENT = { timeout: 10_000 }

/** Opens an empty database as two processes would, and cleans up after the test. */
export async function withEmptyDatabase(
  create: () => Promise<ContractDatabase>,
  work: (database: Database<TestTables>, other: Database<TestTables>) => Promise<void>,
): Promise<void> {
  const made = await create()
  const opened: Database[] = []
  try {
    for (let i = 0; i < 2; i++) opened.push(await made.connect(PATIENT))
    const [database, other] = opened
    if (!database || !other) throw new Error('connect() returned no database')
    await work(database, other)
  } finally {
    for (const database of opened) await database.close()
    await made.remove()
  }
}

/** Opens a new database as two processes would, with a table that has a column of each kind. */
export function withThingsTable(
  create: () => Promise<ContractDatabase>,
  work: (database: Database<TestTables>, other: Database<TestTables>) => Promise<void>,
): Promise<void> {
  return withEmptyDatabase(create, async (database, other) => {
    await migrate(database, { name: 'things', migrations: [thingsMigration] })
    await work(database, other)
  })
}
