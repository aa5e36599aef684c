import {
  connect,
  createColumns,
  createTable,
  type Database,
  field,
  type MigrationSet,
  migrate,
  NeedsOffline,
  SchemaTooOld,
} from '@tollgate/database'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  createTestDatabase,
  type TestDatabase,
} from '../../../test-support/create-test-database.ts'
import { billingMigrations, createBilling } from '../src/index.ts'

let test: TestDatabase
let database: Database
beforeEach(async () => {
  test = await createTestDatabase()
  database = test.database
  const columns = createColumns(database)
  await createTable(database, 'users', {
    columns: { id: columns.integer, name: columns.string(20).nullable() },
    primaryKey: ['id'],
  })
})
afterEach(() => test.drop())

const kind = process.env.TEST_DATABASE
/** On SQLite timestamps are milliseconds: nothing changes, and nobody has to be stopped. */
const isChanged = kind !== 'sqlite'
const users = { table: 'users', id: 'id', idType: 'integer', email: 'email', name: 'name' } as const

const upTo = (end: string): MigrationSet => ({
  name: 'billing',
  migrations: billingMigrations(users).migrations.filter(({ id }) => id < end),
})
/** As the tables were before they had timestamps, and just after. */
const before = upTo('0004')
const after = upTo('0005')

const billingOn = (on: Database, more: { readonly migrate?: boolean } = {}) =>
  createBilling({
    database: on,
    users: { table: 'users' },
    stripe: { secret: 'sk_test_1', webhookSecret: 'whsec_1' },
    processEvery: false,
    ...more,
  })

const MOMENTS = [0, 1_764_000_000_123, 2_147_483_648_001, 4_102_444_799_999]

/** One user and one subscription for each moment, every other one without a trial. */
async function fillOldTables() {
  await migrate(database, before)
  for (const [id, at] of MOMENTS.entries()) {
    const trial_ends_at = id % 2 ? at : null
    const customer = { provider: 'stripe', provider_id: `cus_${id}` }
    await database.kysely
      .insertInto('users')
      .values({ id, trial_ends_at, ...customer })
      .execute()
    await database.kysely
      .insertInto('subscriptions')
      .values({
        user_id: id,
        name: 'main',
        provider: 'stripe',
        provider_id: `sub_${id}`,
        provider_plan: 'monthly',
        provider_status: 'active',
        quantity: 1,
        trial_ends_at,
        ends_at: id % 2 ? null : at,
        created_at: at,
        updated_at: at + 1,
      })
      .execute()
  }
}

const moment = field.timestamp.nullable().fromStored

async function readMoments() {
  const rows = await database.kysely.selectFrom('subscriptions').selectAll().orderBy('id').execute()
  const people = await database.kysely.selectFrom('users').selectAll().orderBy('id').execute()
  const milliseconds = (at: unknown) => moment(at as Date | number | null)?.getTime() ?? null
  return rows.map((row, i) =>
    [people[i]?.trial_ends_at, row.trial_ends_at, row.ends_at, row.created_at, row.updated_at].map(
      milliseconds,
    ),
  )
}

const EXPECTED = MOMENTS.map((at, id) =>
  id % 2 ? [at, at, null, at, at + 1] : [null, null, at, at, at + 1],
)

describe('columns from before there were timestamps', () => {
  it('become timestamps and keep every moment, when somebody says that nothing else runs', async () => {
    await fillOldTables()
    const billing = billingOn(database)
    expect((await billing.migrate({ offline: true })).applied[0]).toBe('0004-timestamps')
    expect(await readMoments()).toEqual(EXPECTED)
    const user = await billing.user(1)
    expect(user.trialEndsAt).toEqual(new Date(1_764_000_000_123))
    const subscription = await user.subscription('main')
    expect(subscription.createdAt).toEqual(new Date(1_764_000_000_123))
    expect(await billing.countActive(new Date(1_764_000_000_124))).toBe(1)
    await billing.close()
  })

  it.runIf(isChanged)('are left alone otherwise, and billing says what to do', async () => {
    await fillOldTables()
    const billing = billingOn(database)
    for (const use of [() => billing.ready(), () => billing.user(1), () => billing.migrate()]) {
      await expect(use()).rejects.toThrow(NeedsOffline)
    }
    await expect(billing.ready()).rejects.toThrow(
      /0004-timestamps.*Stop every process.*migrate\({ offline: true }\)/,
    )
    expect(await readMoments()).toEqual(EXPECTED)
    // Whoever does it does it for all: nobody has to be started again.
    const other = billingOn(database)
    await other.migrate({ offline: true })
    expect((await billing.user(1)).trialEndsAt).toEqual(new Date(1_764_000_000_123))
    await Promise.all([billing.close(), other.close()])
  })

  it.runIf(isChanged)('need nobody stopped where they hold nothing', async () => {
    await migrate(database, before)
    await database.kysely.insertInto('users').values({ id: 1 }).execute()
    const billing = billingOn(database)
    expect((await billing.migrate()).applied).toContain('0004-timestamps')
    await billing.close()
  })

  it('are refused by a process that may not change them', async () => {
    await migrate(database, before)
    await database.kysely.insertInto('users').values({ id: 1 }).execute()
    const billing = billingOn(database, { migrate: false })
    await expect(billing.user(1)).rejects.toThrow(SchemaTooOld)
    const other = billingOn(database)
    await other.migrate()
    expect(await billing.findUser(1)).not.toBeNull()
    await Promise.all([billing.close(), other.close()])
  })

  it('are changed once when two processes want to', async () => {
    await fillOldTables()
    const both = await Promise.all([connect(test.url), connect(test.url)])
    const applied = await Promise.all(
      both.map(async (on) => (await billingOn(on).migrate({ offline: true })).applied),
    )
    expect(applied.flat().filter((id) => id === '0004-timestamps')).toHaveLength(1)
    expect(await readMoments()).toEqual(EXPECTED)
    await Promise.all(both.map((on) => on.close()))
  })

  it.runIf(isChanged)(
    'can be changed after a process stopped before any step of the change',
    async () => {
      let stopped = 0
      for (let steps = 0; ; steps++) {
        let left = steps
        const fresh = await createTestDatabase()
        const shared = { test, database }
        test = fresh
        database = fresh.database
        const columns = createColumns(database)
        await createTable(database, 'users', {
          columns: { id: columns.integer },
          primaryKey: ['id'],
        })
        await fillOldTables()
        const stopping = await connect(fresh.url, {
          onQuery(text) {
            if (!/^(alter table|update) .(users|subscriptions)/.test(text)) return
            if (left-- === 0) throw new Error('stopped')
          },
        })
        const isDone = await migrate(stopping, after, { offline: true }).then(
          () => true,
          (error) => {
            expect(error.message).toBe('stopped')
            return false
          },
        )
        await stopping.close()
        if (!isDone) await migrate(database, after, { offline: true })
        expect(await readMoments()).toEqual(EXPECTED)
        await fresh.drop()
        ;({ test, database } = shared)
        if (isDone) break
        stopped++
      }
      expect(stopped).toBe(kind === 'postgres' ? 2 : 9)
    },
    60_000,
  )

  it.runIf(isChanged)(
    'are refused where the application has made them of another type',
    async () => {
      const type = sql.raw(kind === 'postgres' ? 'timestamp' : 'timestamp null')
      await sql`alter table users add column trial_ends_at ${type}`.execute(database.kysely)
      const billing = billingOn(database)
      await expect(billing.ready()).rejects.toThrow(
        /users\.trial_ends_at is a timestamp.* and should be a (timestamptz|datetime)\(3\)/,
      )
      await billing.close()
    },
  )
})

describe('a moment is the same wherever it is written and read', () => {
  const endsAt = new Date('2026-11-01T05:30:00.123Z')
  const zone = process.env.TZ

  /** A session in another time zone than UTC, whatever the connection was set up with. */
  async function connectElsewhere(): Promise<Database> {
    if (kind === 'postgres') {
      const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(
        database.kysely,
      )
      await sql`alter database ${sql.id(rows[0]?.name ?? '')} set timezone = 'Asia/Kolkata'`.execute(
        database.kysely,
      )
    }
    const elsewhere = await connect(test.url, { poolSize: 1 })
    if (kind === 'mariadb') {
      await sql`set session time_zone = '+05:00'`.execute(elsewhere.kysely)
    }
    return elsewhere
  }

  afterEach(() => {
    if (zone === undefined) delete process.env.TZ
    else process.env.TZ = zone
  })

  it('by a process and a database in other time zones', async () => {
    await database.kysely.insertInto('users').values({ id: 1 }).execute()
    const here = billingOn(database)
    await here.migrate()
    const elsewhere = await connectElsewhere()
    const there = billingOn(elsewhere)
    // The hour that clocks there show twice.
    process.env.TZ = 'America/New_York'
    expect(new Date(0).getTimezoneOffset()).toBe(300)
    await (await there.user(1)).startGenericTrial(endsAt)
    expect((await there.user(1)).trialEndsAt).toEqual(endsAt)
    process.env.TZ = 'UTC'
    expect((await here.user(1)).trialEndsAt).toEqual(endsAt)
    expect((await there.user(1)).trialEndsAt).toEqual(endsAt)
    await (await here.user(1)).startGenericTrial(new Date(endsAt.getTime() + 3_600_000))
    process.env.TZ = 'America/New_York'
    expect((await there.user(1)).trialEndsAt?.getTime()).toBe(endsAt.getTime() + 3_600_000)
    await Promise.all([here.close(), there.close()])
    await elsewhere.close()
  })
})
