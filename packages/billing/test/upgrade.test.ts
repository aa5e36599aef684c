import {
  connect,
  createColumns,
  createTable,
  type Database,
  migrate,
  timestamp,
} from '@tollgate/database'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  createTestDatabase,
  type Template,
  type TestDatabase,
} from '../../../test-support/create-test-database.ts'
import { describeSchema } from '../../../test-support/describe-schema.ts'
import { billingMigrations, createBilling } from '../src/index.ts'
import { ownerMigrations } from '../src/storage/migrations/owners.ts'
import { queueTables } from '../src/storage/queues/tables.ts'
import { billingTables } from '../src/storage/tables.ts'
import { olderBuild } from './older-build.ts'

const kind = process.env.TEST_DATABASE
const users = { table: 'users', id: 'id', idType: 'integer', email: 'email', name: 'name' } as const
const all = billingMigrations(users)
const before = { ...all, migrations: all.migrations.filter(({ id }) => id < '0005') }
/** Where teams are billed, too. */
const ofTeams = ownerMigrations('team', { table: 'teams' })
const added = all.migrations.map(({ id }) => id).filter((id) => id >= '0005')

const AT = new Date('2026-11-17T00:00:00.123Z')
const USERS = [1, 2, 3]

/** A database as the build before has left it: users with a card, subscriptions, one operation under way. */
const filled: Template = {
  name: 'billing before owners',
  async fill(database) {
    const columns = createColumns(database)
    await createTable(database, 'users', {
      columns: { id: columns.integer, name: columns.string(20).nullable() },
      primaryKey: ['id'],
    })
    await createTable(database, 'teams', {
      columns: { id: columns.integer, email: columns.string(255).nullable() },
      primaryKey: ['id'],
    })
    // Whoever came from Cashier as the guide says has this table still.
    await createTable(database, 'subscription_items', {
      columns: { id: columns.counter, subscription_id: columns.integer, stripe_id: columns.id },
    })
    await migrate(database, before)
    const older = olderBuild(database)
    for (const id of USERS) {
      await database.kysely
        .insertInto('users')
        .values({ id, name: `user ${id}` })
        .execute()
      await older.saveCard(id, 'visa')
      await older.saveSubscription(id, `sub_${id}`, 'monthly', AT)
    }
    await older.beginOperation('begun', 2, 'same')
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
    stripe: { secret: 'sk_test_1', webhookSecret: 'whsec_1' },
    processEvery: false,
  })

const rowsOf = (table: string, on = database) =>
  on.kysely.selectFrom(table).selectAll().orderBy('id').execute()

/** All that older builds wrote, whatever there is beside. */
async function readOldColumns(on: Database) {
  const subscriptions = await rowsOf('subscriptions', on)
  const people = await rowsOf('users', on)
  const operations = await rowsOf('billing_operations', on)
  return {
    subscriptions: subscriptions.map((row) => [
      row.id,
      row.user_id,
      row.name,
      row.provider_id,
      row.provider_plan,
      row.quantity,
      row.ends_at,
      Number(row.created_at),
    ]),
    users: people.map((row) => [row.id, row.name, row.card_brand, row.card_last_four]),
    operations: operations.map(({ id, user_id, kind, fingerprint }) => [
      id,
      user_id,
      kind,
      fingerprint,
    ]),
  }
}

describe('the tables of a build that knew only users', () => {
  it('get what was added beside running processes, and keep what they hold', async () => {
    const old = await readOldColumns(database)
    expect(old.subscriptions).toHaveLength(USERS.length)
    const billing = billingOn(database)
    expect((await billing.migrate()).applied).toEqual(added)
    expect(await readOldColumns(database)).toEqual(old)
    for (const row of await rowsOf('subscriptions')) {
      expect(row).toMatchObject({
        owner_type: null,
        owner_id: null,
        paused_at: null,
        planned_plan: null,
        planned_at: null,
        disputed_at: null,
      })
    }
    const user = await billing.user(2)
    expect(user.attributes).toMatchObject({ card_expires: null, card_brand: 'visa' })
    expect((await user.subscription('main')).createdAt).toEqual(AT)
    await billing.close()
  })

  it('threat Q3 get the customer that each subscription was made for, and none where the owner may be another one by now', async () => {
    const { kysely } = database
    const ended = timestamp(new Date(AT.getTime() - 1000))
    const subscribe = async (user_id: number, ends_at: unknown = null) => {
      await olderBuild(database).saveSubscription(user_id, `sub_${user_id}`, 'monthly', AT)
      await kysely
        .updateTable('subscriptions')
        .set({ ends_at })
        .where('user_id', '=', user_id)
        .execute()
    }
    await kysely
      .insertInto('users')
      .values([{ id: 4 }, { id: 5 }])
      .execute()
    await subscribe(3, ended)
    await subscribe(4)
    await subscribe(5, ended)
    // Nobody has this id any more, or not yet.
    await subscribe(6, ended)
    await migrate(database, all)
    const rows = await kysely
      .selectFrom('subscriptions')
      .select(['user_id', 'provider_customer'])
      .orderBy('user_id')
      .execute()
    expect(rows.map((row) => [Number(row.user_id), row.provider_customer])).toEqual([
      [1, 'cus_1'],
      [2, 'cus_2'],
      [3, 'cus_3'],
      [4, ''],
      [5, null],
      [6, ''],
    ])
  })

  it('threat Q3 get the customers of other owners, too', async () => {
    const { kysely } = database
    await migrate(database, all)
    const before = { ...ofTeams, migrations: ofTeams.migrations.filter(({ id }) => id < '0002') }
    await migrate(database, before)
    await kysely
      .insertInto('teams')
      .values([{ id: 1, provider: 'stripe', provider_id: 'cus_a' }, { id: 2 }])
      .execute()
    const rows = [
      { owner_id: '1', provider: 'stripe', ends_at: null },
      { owner_id: '1', provider: 'braintree', ends_at: timestamp(AT) },
      { owner_id: '2', provider: 'stripe', ends_at: null },
      { owner_id: '2', provider: 'stripe', ends_at: timestamp(new Date(0)) },
      { owner_id: '3', provider: 'stripe', ends_at: timestamp(new Date(0)) },
    ]
    for (const [at, row] of rows.entries()) {
      await kysely
        .insertInto('subscriptions')
        .values({
          ...row,
          owner_type: 'team',
          name: 'main',
          provider_id: `of team ${at}`,
          provider_plan: 'monthly',
          provider_status: 'active',
          quantity: 1,
          created_at: timestamp(AT),
          updated_at: timestamp(AT),
        })
        .execute()
    }
    await migrate(database, ofTeams)
    const filled = await kysely
      .selectFrom('subscriptions')
      .select('provider_customer')
      .where('owner_type', '=', 'team')
      .orderBy('id')
      .execute()
    expect(filled.map((row) => row.provider_customer)).toEqual(['cus_a', null, '', null, ''])
  })

  it('go on being used by a process that was started before', async () => {
    const olderDatabase = await connect(test.url)
    const older = olderBuild(olderDatabase)
    // Statements of its own that are prepared by now.
    const use = async (n: number) => {
      const plan = `plan_${n}`
      await older.saveSubscription(1, 'sub_1', plan, AT)
      await older.saveSubscription(3, `sub_new_${n}`, plan, new Date(AT.getTime() + n))
      expect(await older.findSubscription(1, 'main')).toMatchObject({ provider_plan: plan })
      expect(await older.findSubscription(3, 'main')).toMatchObject({
        provider_id: `sub_new_${n}`,
      })
      await older.saveCard(1, `brand ${n}`)
      expect(await older.findUser(1)).toMatchObject({ card_brand: `brand ${n}`, name: 'user 1' })
      expect(await older.beginOperation(`op_${n}`, 1, 'the same')).toBe(true)
      expect(await older.beginOperation('another', 1, 'the same')).toBe(false)
      expect((await older.listOperations(1)).map(({ id }) => id)).toEqual([`op_${n}`])
      await older.finishOperation(`op_${n}`)
      expect((await older.listOperations(2)).map(({ id }) => id)).toEqual(['begun'])
    }
    for (const n of [1, 2]) await use(n)

    const billing = billingOn(database)
    await billing.migrate()
    await migrate(database, ofTeams)
    await database.kysely
      .insertInto('billing_operations')
      .values({
        id: 'of a team',
        kind: 'subscription',
        fingerprint: 'the same',
        request: '{"provider":"stripe"}',
        created_at: 1,
        owner_type: 'team',
        owner_id: '1',
      })
      .execute()
    for (const n of [3, 4]) await use(n)
    expect((await (await billing.user(1)).subscription('main')).providerPlan).toBe('plan_4')
    expect((await (await billing.user(3)).subscription('main')).providerPlan).toBe('plan_4')
    await Promise.all([billing.close(), olderDatabase.close()])
  })

  it('are brought to the end after a process stopped before any step', async () => {
    const migrateAll = async (on: Database) => {
      await migrate(on, all)
      await migrate(on, ofTeams)
    }
    await migrateAll(database)
    const names = [
      'users',
      'teams',
      ...[...billingTables('integer'), ...queueTables].map(({ name }) => name),
    ]
    const describeAll = async (on: Database) =>
      Promise.all(names.map((name) => describeSchema(on, name)))
    const expected = await describeAll(database)
    const old = await readOldColumns(database)
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
      if (!isDone) {
        // What an older process does meanwhile.
        await olderBuild(fresh.database).saveSubscription(1, 'sub_1', 'monthly', AT)
        await migrateAll(fresh.database)
      }
      expect(await describeAll(fresh.database)).toEqual(expected)
      expect(await readOldColumns(fresh.database)).toEqual(old)
      await stopping.close()
      await fresh.drop()
      if (isDone) break
      stopped++
    }
    expect(stopped).toBe({ sqlite: 29, postgres: 23, mariadb: 23 }[kind ?? ''])
  }, 120_000)
})

/** What changes a table that is there. */
const STEP =
  /^(alter table|update sqlite_master|pragma (writable_schema|schema_version) =|create (unique )?index +(if not exists )?["`](subscriptions_by_owner|billing_operations_by_owner))/
