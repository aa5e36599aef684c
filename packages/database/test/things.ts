import { type ConnectOptions, type Database, migrate } from '@tollgate/database'
import {
  createTestDatabase,
  type TestDatabase,
} from '../../../test-support/create-test-database.ts'
import { thingsMigration } from '../src/testing/contract/things.ts'

export {
  createThing,
  findThing,
  findThings,
  insertThings,
  type TestTables,
  type ThingRow,
  thingsMigration,
} from '../src/testing/contract/things.ts'

/** Creates the contract's table with a column of each kind. */
export async function createThings(database: Database): Promise<void> {
  await migrate(database, { name: 'things', migrations: [thingsMigration] })
}

/** Creates a new database with the empty table of things. */
export async function createThingsDatabase(options: ConnectOptions = {}): Promise<TestDatabase> {
  const test = await createTestDatabase(options)
  await createThings(test.database)
  return test
}
