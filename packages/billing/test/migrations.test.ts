import {
  connect,
  createColumnDefinitions,
  createTable,
  type Database,
  migrate,
  readMigrations,
  SchemaTooOld,
} from '@tollgate/database'
import { afterEach, beforeEach, expect, it } from 'vitest'
import {
  createTestDatabase,
  type Template,
  type TestDatabase,
} from '../../../test-support/create-test-database.ts'
import { describeSchema } from '../../../test-support/describe-schema.ts'
import { queueTables } from '../src/core/storage/queue-tables.ts'
import { createBillingTables } from '../src/core/storage/tables.ts'
import { createBilling } from '../src/index.ts'

const kind = process.env.TEST_DATABASE

/** Tables of an application. Its users already have two of the columns, as with Cashier. */
const filled: Template = {
  name: 'an application before billing',
  async fill(database) {
    const columns = createColumnDefinitions(database)
    await createTable(database, 'users', {
      columns: {
        id: columns.integer,
        name: columns.string(20).nullable(),
        card_brand: columns.string(255).nullable(),
        card_last_four: columns.string(255).nullable(),
      },
      primaryKey: ['id'],
    })
    await createTable(database, 'teams', {
      columns: { id: columns.integer, email: columns.string(255).nullable() },
      primaryKey: ['id'],
    })
    for (const id of [1, 2, 3]) {
      await database.kysely
        .insertInto('users')
        .values({ id, name: `user ${id}`, card_brand: 'visa' })
        .execute()
    }
    await database.kysely.insertInto('teams').values({ id: 1, email: 'a@example.com' }).execute()
  },
}

let test: TestDatabase
let database: Database
beforeEach(async () => {
  test = await createTestDatabase({ template: filled })
  database = test.database
})
afterEach(() => test.drop())

const billingOn = (on: Database) =>
  createBilling({
    database: on,
    users: { table: 'users' },
    owners: { team: { table: 'teams' } },
    stripe: { secret: 'sk_test_1', webhookSecret: 'whsec_1' },
    processEvery: false,
  })

async function migrateAll(on: Database) {
  const billing = billingOn(on)
  const { applied } = await billing.migrate()
  await billing.close()
  return applied
}

const NAMES = [
  'users',
  'teams',
  ...[...createBillingTables('integer'), ...queueTables].map(({ name }) => name),
]
const describeAll = (on: Database) => Promise.all(NAMES.map((name) => describeSchema(on, name)))

async function readOwnColumns({ kysely }: Database) {
  return {
    users: await kysely
      .selectFrom('users')
      .select(['id', 'name', 'card_brand', 'card_last_four'])
      .orderBy('id')
      .execute(),
    teams: await kysely.selectFrom('teams').select(['id', 'email']).execute(),
  }
}

it("billing's migrations add missing columns and keep existing rows", async () => {
  const before = await readOwnColumns(database)
  expect(await migrateAll(database)).toEqual(['0001-first-release', '0001-first-release'])
  expect(await readOwnColumns(database)).toEqual(before)
  const billing = billingOn(database)
  expect((await billing.user(2)).attributes).toMatchObject({ card_brand: 'visa', provider: null })
  await billing.close()
})

it('billing’s migrations run once if several processes start concurrently', async () => {
  const others = await Promise.all([connect(test.url), connect(test.url), connect(test.url)])
  const applied = await Promise.all(others.map(migrateAll))
  expect(applied.flat()).toEqual(['0001-first-release', '0001-first-release'])
  await Promise.all(others.map((on) => on.close()))
})

it('billing’s migrations reject the database of a version from before the first release, and leave it unchanged', async () => {
  const earlier = ['0001-user-columns', '0002-tables', '0003-taxes'].map((id) => ({
    id,
    up: async () => undefined,
  }))
  await migrate(database, { name: 'billing', migrations: earlier })
  const before = [await describeAll(database), await readMigrations(database)]
  const billing = billingOn(database)
  for (const use of [
    () => billing.migrate(),
    () => billing.migrate({ offline: true }),
    () => billing.ready(),
    () => billing.user(1),
  ]) {
    const used = use()
    await expect(used).rejects.toThrow(SchemaTooOld)
    await expect(used).rejects.toThrow(/0001-user-columns.*start with an empty database/)
  }
  expect([await describeAll(database), await readMigrations(database)]).toEqual(before)
  await billing.close()
})

it("billing's migrations can be completed after a process stopped before any of their steps", async () => {
  const own = await readOwnColumns(database)
  await migrateAll(database)
  const expected = await describeAll(database)
  let stopped = 0
  for (let steps = 0; ; steps++) {
    const fresh = await createTestDatabase({ template: filled })
    let left = steps
    const stopping = await connect(fresh.url, {
      onQuery(text) {
        if (!STEP.test(text)) return
        if (left-- === 0) throw new Error('stopped')
      },
    })
    const isDone = await migrateAll(stopping).then(
      () => true,
      (error) => {
        expect(error.message).toBe('stopped')
        return false
      },
    )
    if (!isDone) await migrateAll(fresh.database)
    expect(await describeAll(fresh.database)).toEqual(expected)
    expect(await readOwnColumns(fresh.database)).toEqual(own)
    await stopping.close()
    await fresh.drop()
    if (isDone) break
    stopped++
  }
  expect(stopped).toBe({ sqlite: 63, postgres: 65, mariadb: 64 }[kind ?? ''])
})

/** Statements that change the schema. */
const STEP =
  /^(alter table|update sqlite_master|pragma (writable_schema|schema_version) =|create (table|(unique )?index))/
