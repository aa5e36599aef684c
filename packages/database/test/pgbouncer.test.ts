import { connect, type Database, isUnavailable, migrate } from '@tollgate/database'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  createTestDatabase,
  type TestDatabase,
} from '../../../test-support/create-test-database.ts'
import { findPgBouncer, type PgBouncer, startPgBouncer } from '../../../test-support/pgbouncer.ts'
import {
  createThing,
  findThing,
  findThings,
  insertThings,
  type TestTables,
  thingsMigration,
} from './things.ts'

const installed = process.env.TEST_DATABASE === 'postgres' ? findPgBouncer() : null
if (process.env.TEST_DATABASE === 'postgres' && !installed) {
  console.log('PgBouncer is left out: install pgbouncer, or use .ci/run')
}

/** PgBouncer supports prepared statements in transaction mode since 1.21. */
const [major = 0, minor = 0] = (installed?.version ?? '0').split('.').map(Number)
const modes: Array<'session' | 'transaction'> =
  major > 1 || minor >= 21 ? ['session', 'transaction'] : ['session']

describe.runIf(installed)('a connection through PgBouncer', () => {
  let test: TestDatabase
  let bouncer: PgBouncer
  beforeEach(async () => {
    test = await createTestDatabase({ poolSize: 1 })
  })
  afterEach(async () => {
    await bouncer.stop()
    await test.drop()
  })

  const start = (mode: 'session' | 'transaction') =>
    startPgBouncer(
      installed?.program ?? '',
      test.url,
      mode,
      mode === 'transaction' ? { max_prepared_statements: 200 } : {},
    )

  it.each(modes)('supports everything in the pool mode %s', async (mode) => {
    bouncer = await start(mode)
    const [one, two] = [
      await connect<TestTables>(bouncer.url, { poolSize: 3 }),
      await connect<TestTables>(bouncer.url, { poolSize: 3 }),
    ]
    const set = { name: 'things', migrations: [thingsMigration] }
    const applied = await Promise.all([one, two].map((db) => migrate(db as Database, set)))
    expect(applied.flatMap((each) => each.applied)).toEqual(['001-things'])
    const find = one.statement<{ id: string }, { id: string }>((db, param) =>
      db.selectFrom('things').select('id').where('id', '=', param('id')),
    )
    await insertThings(one, createThing('a'))
    for (let i = 0; i < 20; i++) expect((await find({ id: 'a' })).rows).toEqual([{ id: 'a' }])
    await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        (n % 2 === 0 ? one : two).exclusively('count', async (tx) => {
          const found = await findThing(tx, 'a')
          const amount = (found?.amount ?? 0) + 1
          await tx.kysely.updateTable('things').set({ amount }).where('id', '=', 'a').execute()
        }),
      ),
    )
    expect(await findThing(two, 'a')).toMatchObject({ amount: 20 })
    await Promise.all([one.close(), two.close()])
  })

  it.each(modes)(
    'stops a statement at the server, in the pool mode %s, if its caller stops waiting',
    async (mode) => {
      bouncer = await start(mode)
      const database = await connect<TestTables>(bouncer.url, { poolSize: 3 })
      await migrate(database as Database, { name: 'things', migrations: [thingsMigration] })
      const sleeping = Array.from({ length: 6 }, () =>
        database.transaction((tx) => sql`select pg_sleep(600)`.execute(tx.kysely)),
      )
      for (const result of await Promise.allSettled(sleeping)) {
        expect(result.status).toBe('rejected')
        if (result.status === 'rejected') expect(result.reason).toSatisfy(isUnavailable)
      }
      const count = async () => {
        const { rows } = await sql<{ n: number }>`select count(*) as n from pg_stat_activity
        where query like '%pg_sleep(600)%' and state = 'active' and pid <> pg_backend_pid()`.execute(
          test.database.kysely,
        )
        return Number(rows[0]?.n)
      }
      await expect.poll(count).toBe(0)
      const ask = () => findThings(database).then(Boolean, () => false)
      await expect.poll(ask).toBe(true)
      await database.close()
    },
  )
})
