import {
  addColumn,
  connect,
  createColumnDefinitions,
  createTable,
  type Database,
  NeedsOffline,
  SchemaTooOld,
} from '@tollgate/database'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  createTestDatabase,
  type TestDatabase,
} from '../../../test-support/create-test-database.ts'
import { createBilling } from '../src/index.ts'

let test: TestDatabase
let database: Database
beforeEach(async () => {
  test = await createTestDatabase()
  database = test.database
  const columns = createColumnDefinitions(database)
  await createTable(database, 'users', {
    columns: { id: columns.integer, name: columns.string(20).nullable() },
    primaryKey: ['id'],
  })
})
afterEach(() => test.drop())

const kind = process.env.TEST_DATABASE
/** SQLite stores timestamps as milliseconds: nothing changes, so no process has to be stopped. */
const isChanged = kind !== 'sqlite'

const billingOn = (on: Database, more: { readonly migrate?: boolean } = {}) =>
  createBilling({
    database: on,
    users: { table: 'users' },
    stripe: { secret: 'sk_test_1', webhookSecret: 'whsec_1' },
    processEvery: false,
    ...more,
  })

const MOMENTS = [0, 1_764_000_000_123, 2_147_483_648_001, 4_102_444_799_999]

async function addMilliseconds() {
  const { instant } = createColumnDefinitions(database)
  await addColumn(database, 'users', 'trial_ends_at', instant.nullable())
}

/** Adds one user for each moment, every other one without a trial. */
async function fillMilliseconds() {
  await addMilliseconds()
  for (const [id, at] of MOMENTS.entries()) {
    await database.kysely
      .insertInto('users')
      .values({ id, trial_ends_at: id % 2 ? at : null })
      .execute()
  }
}

async function readMoments() {
  const billing = billingOn(database)
  const users = await Promise.all(MOMENTS.map((_, id) => billing.user(id)))
  await billing.close()
  return users.map(({ trialEndsAt }) => trialEndsAt?.getTime() ?? null)
}

const EXPECTED = MOMENTS.map((at, id) => (id % 2 ? at : null))

describe('an existing `trial_ends_at` column that contains milliseconds', () => {
  it('is converted to a timestamp with the same values, if the caller confirms that no other process is running', async () => {
    await fillMilliseconds()
    const billing = billingOn(database)
    expect((await billing.migrate({ offline: true })).applied).toEqual(['0001-first-release'])
    await billing.close()
    expect(await readMoments()).toEqual(EXPECTED)
  })

  it.runIf(isChanged)(
    'is left unchanged unless the caller confirms that no other process is running, and the error says what to do',
    async () => {
      await fillMilliseconds()
      const billing = billingOn(database)
      for (const use of [() => billing.ready(), () => billing.user(1), () => billing.migrate()]) {
        await expect(use()).rejects.toThrow(NeedsOffline)
      }
      await expect(billing.ready()).rejects.toThrow(
        /0001-first-release.*Stop every process.*migrate\({ offline: true }\)/,
      )
      const rows = await database.kysely
        .selectFrom('users')
        .select('trial_ends_at')
        .orderBy('id')
        .execute()
      expect(rows.map(({ trial_ends_at: at }) => (at === null ? null : Number(at)))).toEqual(
        EXPECTED,
      )
      // One process migrates for all others, which need no restart.
      const other = billingOn(database)
      await other.migrate({ offline: true })
      expect((await billing.user(1)).trialEndsAt).toEqual(new Date(1_764_000_000_123))
      await Promise.all([billing.close(), other.close()])
    },
  )

  it.runIf(isChanged)(
    'is converted without stopping other processes if no row has a value',
    async () => {
      await addMilliseconds()
      await database.kysely.insertInto('users').values({ id: 1 }).execute()
      const billing = billingOn(database)
      expect((await billing.migrate()).applied).toEqual(['0001-first-release'])
      await billing.close()
    },
  )

  it('is rejected by a process with the `migrate: false` option', async () => {
    await addMilliseconds()
    await database.kysely.insertInto('users').values({ id: 1 }).execute()
    const billing = billingOn(database, { migrate: false })
    await expect(billing.user(1)).rejects.toThrow(SchemaTooOld)
    const other = billingOn(database)
    await other.migrate()
    expect(await billing.findUser(1)).not.toBeNull()
    await Promise.all([billing.close(), other.close()])
  })

  it('is converted once when two processes migrate concurrently', async () => {
    await fillMilliseconds()
    const both = await Promise.all([connect(test.url), connect(test.url)])
    const applied = await Promise.all(
      both.map(async (on) => (await billingOn(on).migrate({ offline: true })).applied),
    )
    expect(applied.flat()).toEqual(['0001-first-release'])
    expect(await readMoments()).toEqual(EXPECTED)
    await Promise.all(both.map((on) => on.close()))
  })

  it.runIf(isChanged)(
    'is converted completely after a process stopped before any step of the conversion',
    async () => {
      const shared = { test, database }
      let stopped = 0
      for (let steps = 0; ; steps++) {
        let left = steps
        test = await createTestDatabase()
        database = test.database
        const columns = createColumnDefinitions(database)
        await createTable(database, 'users', {
          columns: { id: columns.integer },
          primaryKey: ['id'],
        })
        await fillMilliseconds()
        const stopping = await connect(test.url, {
          onQuery(text) {
            if (!/^(alter table|update) .users/.test(text)) return
            if (left-- === 0) throw new Error('stopped')
          },
        })
        const billing = billingOn(stopping)
        const isDone = await billing.migrate({ offline: true }).then(
          () => true,
          (error) => {
            expect(error.message).toBe('stopped')
            return false
          },
        )
        await billing.close()
        await stopping.close()
        if (!isDone) await billingOn(database).migrate({ offline: true })
        expect(await readMoments()).toEqual(EXPECTED)
        await test.drop()
        ;({ test, database } = shared)
        if (isDone) break
        stopped++
      }
      expect(stopped).toBe(kind === 'postgres' ? 7 : 9)
    },
  )

  it.runIf(isChanged)(
    'is rejected if it has been replaced by a timestamp column of another type than billing uses',
    async () => {
      const type = sql.raw(kind === 'postgres' ? 'timestamp' : 'timestamp null')
      await sql`alter table users add column trial_ends_at ${type}`.execute(database.kysely)
      const billing = billingOn(database)
      await expect(billing.ready()).rejects.toThrow(
        /users\.trial_ends_at has the type timestamp.* instead of (timestamptz|datetime)\(3\)/,
      )
      await billing.close()
    },
  )
})

describe('a stored time', () => {
  const endsAt = new Date('2026-11-01T05:30:00.123Z')
  const zone = process.env.TZ

  /** A session in a time zone other than UTC, however the connection was configured. */
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

  it('is read as it was written, across processes and databases in different time zones', async () => {
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
