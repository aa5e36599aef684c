import { connect, type Database, isUnavailable } from '@tollgate/database'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  createTestDatabase,
  type TestDatabase,
} from '../../../test-support/create-test-database.ts'
import { type PostgresServer, startPostgresServer } from '../../../test-support/postgres-server.ts'
import { startTcpProxy } from '../../../test-support/tcp-proxy.ts'
import {
  createThing,
  createThings,
  findThing,
  findThings,
  insertThings,
  type TestTables,
} from './things.ts'

const kind = process.env.TEST_DATABASE
const POOL = 3
/** The pool's size, two replacements for lost connections, and one that is about to close. */
const MAX_CONNECTIONS = POOL + 3

/** Polls for the highest number of connections that others have to this database. */
function watchConnections(admin: Database): { stop(): Promise<number> } {
  let most = 0
  let going = true
  const watching = (async () => {
    while (going) {
      most = Math.max(most, await countConnections(admin))
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  })()
  return {
    async stop() {
      going = false
      await watching
      return most
    },
  }
}

async function countConnections(admin: Database, doing = '%'): Promise<number> {
  const query =
    admin.dialect.name === 'postgres'
      ? sql<{ n: number }>`select count(*) as n from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid() and query like ${doing}`
      : sql<{ n: number }>`select count(*) as n from information_schema.processlist
          where db = database() and id <> connection_id() and coalesce(info, '') like ${doing}`
  const { rows } = await query.execute(admin.kysely)
  return Number(rows[0]?.n)
}

async function expectUnavailable(attempts: Promise<unknown>[]): Promise<void> {
  for (const result of await Promise.allSettled(attempts)) {
    expect(result.status).toBe('rejected')
    if (result.status === 'rejected') expect(result.reason).toSatisfy(isUnavailable)
  }
}

async function expectAvailable(database: Database<TestTables>): Promise<void> {
  const ask = () => findThings(database).then(Boolean, () => false)
  await expect.poll(ask).toBe(true)
  await Promise.all(
    [1, 2, 3, 4].map(() => insertThings(database, createThing(crypto.randomUUID()))),
  )
}

describe.runIf(kind !== 'sqlite')(
  'statements that run longer than the timeout of their callers',
  () => {
    let test: TestDatabase
    beforeEach(async () => {
      test = await createTestDatabase({ poolSize: 1 })
      await createThings(test.database)
    })
    afterEach(() => test.drop())

    const sleepForLong = (database: Database<TestTables>) =>
      database.transaction(async (tx) => {
        const isPostgres = database.dialect.name === 'postgres'
        await (isPostgres ? sql`set local statement_timeout = 0` : noTimeout).execute(tx.kysely)
        await (isPostgres ? sql`select pg_sleep(600)` : sql`do sleep(600)`).execute(tx.kysely)
      })
    const noTimeout = sql`set session max_statement_time = 0`

    it('are stopped at the server once their callers stop waiting, without opening ever more connections', async () => {
      const database = await connect<TestTables>(test.url, { poolSize: POOL })
      const watch = watchConnections(test.database)
      for (let round = 0; round < 4; round++) {
        await expectUnavailable(Array.from({ length: 2 * POOL }, () => sleepForLong(database)))
      }
      expect(await watch.stop()).toBeLessThanOrEqual(MAX_CONNECTIONS)
      await expect.poll(() => countConnections(test.database, '%sleep(600)%')).toBe(0)
      await expectAvailable(database)
      await database.close()
    })

    it('do not delay close()', async () => {
      const database = await connect<TestTables>(test.url, { poolSize: POOL })
      await expectUnavailable([sleepForLong(database)])
      await database.close()
    })

    it('fail if the network has lost all connections, and new connections are opened afterwards', async () => {
      const proxy = await startTcpProxy(test.url)
      const database = await connect<TestTables>(proxy.url, { poolSize: POOL })
      await Promise.all(Array.from({ length: POOL }, () => findThings(database)))
      proxy.forget()
      await expectUnavailable(Array.from({ length: POOL }, () => findThings(database)))
      await expectAvailable(database)
      await database.close()
      await proxy.close()
    })

    it('free their places in the pool even while the network does not respond', async () => {
      const proxy = await startTcpProxy(test.url)
      const database = await connect<TestTables>(proxy.url, { poolSize: POOL })
      await expectAvailable(database)
      const watch = watchConnections(test.database)
      proxy.stall()
      for (let round = 0; round < 5; round++) {
        await expectUnavailable(Array.from({ length: 2 * POOL }, () => findThings(database)))
      }
      await proxy.heal()
      await expectAvailable(database)
      // The server has not yet noticed that the old connections are gone.
      expect(await watch.stop()).toBeLessThanOrEqual(POOL + MAX_CONNECTIONS)
      await database.close()
      await proxy.close()
    })
  },
)

describe('database.connections()', () => {
  it('counts the connections in use and the callers that wait for one, and is null for SQLite', async () => {
    const { url, drop } = await createTestDatabase()
    const database = await connect(url, { poolSize: 1 })
    const counts = () => database.connections()
    if (kind === 'sqlite') expect(counts()).toBeNull()
    else {
      let release = () => {}
      const held = new Promise<void>((resolve) => {
        release = resolve
      })
      let begun = false
      const first = database.transaction(async () => {
        begun = true
        await held
      })
      await expect.poll(() => begun).toBe(true)
      const second = database.transaction(async () => {})
      await expect.poll(counts).toEqual({ max: 1, inUse: 1, waiting: 1 })
      release()
      await Promise.all([first, second])
      await expect.poll(counts).toEqual({ max: 1, inUse: 0, waiting: 0 })
    }
    await database.close()
    await drop()
  })
})

describe.runIf(kind === 'postgres')('a commit that waits for a standby server', () => {
  let server: PostgresServer
  let admin: Database<TestTables>
  let database: Database<TestTables>
  const waitForStandby = async (name: string) => {
    await sql`alter system set synchronous_standby_names = ${sql.lit(name)}`.execute(admin.kysely)
    await sql`select pg_reload_conf()`.execute(admin.kysely)
    const shown = async () => {
      const show = sql<{ synchronous_standby_names: string }>`show synchronous_standby_names`
      return (await show.execute(admin.kysely)).rows[0]?.synchronous_standby_names
    }
    await expect.poll(shown).toBe(name)
  }
  beforeAll(async () => {
    server = await startPostgresServer()
    admin = await connect<TestTables>(server.url, { poolSize: 1 })
    await createThings(admin)
  })
  afterAll(async () => {
    await admin.close()
    await server.remove()
  })
  beforeEach(async () => {
    database = await connect<TestTables>(server.url, { poolSize: POOL })
    await waitForStandby('a_standby_that_is_away')
  })
  afterEach(() => database.close())

  it("is not acknowledged while the standby is missing, and does not use up the server's connections", async () => {
    const watch = watchConnections(admin)
    for (let round = 0; round < 4; round++) {
      const inserts = Array.from({ length: POOL }, () => [
        insertThings(database, createThing(crypto.randomUUID())),
        database.transaction((tx) => insertThings(tx, createThing(crypto.randomUUID()))),
      ])
      await expectUnavailable(inserts.flat())
    }
    expect(await watch.stop()).toBeLessThanOrEqual(MAX_CONNECTIONS)
    await waitForStandby('')
    await expectAvailable(database)
  })

  it('is not acknowledged if another client cancels the wait', async () => {
    const patient = await connect<TestTables>(server.url, { poolSize: 1, timeout: 20_000 })
    const id = crypto.randomUUID()
    const insert = insertThings(patient, createThing(id)).catch((error: unknown) => error)
    const cancel = async () => {
      const { rows } = await sql<{ done: boolean }>`select pg_cancel_backend(pid) as done
        from pg_stat_activity where wait_event = 'SyncRep'`.execute(admin.kysely)
      return rows.length
    }
    await expect.poll(cancel).toBe(1)
    expect(await insert).toSatisfy(isUnavailable)
    // The row exists on this one server: the caller was told that the result is unknown.
    expect(await findThing(admin, id)).not.toBeNull()
    await patient.close()
  })
})
