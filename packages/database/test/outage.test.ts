import { existsSync, renameSync } from 'node:fs'
import { connect, type Database, isUnavailable } from '@tollgate/database'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  createTestDatabase,
  type TestDatabase,
} from '../../../test-support/create-test-database.ts'
import { startTcpProxy, type TcpProxy } from '../../../test-support/tcp-proxy.ts'
import {
  createThing,
  createThings,
  findThing,
  findThings,
  insertThings,
  type TestTables,
} from './things.ts'

const isServer = process.env.TEST_DATABASE !== 'sqlite'

let test: TestDatabase
beforeEach(async () => {
  test = await createTestDatabase()
  await createThings(test.database)
})
afterEach(() => test.drop())

describe.runIf(isServer)('a Database whose server fails', () => {
  let proxy: TcpProxy
  let database: Database<TestTables>
  beforeEach(async () => {
    proxy = await startTcpProxy(test.url)
    database = await connect<TestTables>(proxy.url, { poolSize: 3 })
  })
  afterEach(async () => {
    await proxy.heal()
    await database.close()
    await proxy.close()
  })

  const operations: [string, (db: Database<TestTables>) => Promise<unknown>][] = [
    ['a read', (db) => findThings(db)],
    ['a write', (db) => insertThings(db, createThing(crypto.randomUUID()))],
    ['a statement', (db) => db.statement((k) => k.selectFrom('things').select('id'))({})],
    [
      'a transaction',
      (db) => db.transaction((tx) => insertThings(tx, createThing(crypto.randomUUID()))),
    ],
    ['a lock', (db) => db.exclusively('x', (tx) => findThings(tx))],
  ]

  async function expectUnavailable(): Promise<void> {
    // More than there are connections, so that some have to wait for one.
    const attempts = [...operations, ...operations].map(([, run]) => run(database))
    for (const result of await Promise.allSettled(attempts)) {
      expect(result.status).toBe('rejected')
      if (result.status === 'rejected') expect(result.reason).toSatisfy(isUnavailable)
    }
  }

  async function expectAvailable(): Promise<void> {
    await expect
      .poll(() =>
        findThings(database).then(
          () => 'here',
          () => 'away',
        ),
      )
      .toBe('here')
    for (const [, run] of operations) await run(database)
  }

  it('fails with "unavailable" while the server is down, and works again afterwards [threat F2]', async () => {
    await expectAvailable()
    await proxy.cut()
    await expectUnavailable()
    await expectUnavailable()
    await proxy.heal()
    await expectAvailable()
  })

  it('fails with "unavailable" while the server does not respond, and works again afterwards', async () => {
    await expectAvailable()
    proxy.stall()
    await expectUnavailable()
    await proxy.heal()
    await expectAvailable()
  })

  it('rolls back a transaction that loses its connection', async () => {
    const broken = database.transaction(async (tx) => {
      await insertThings(tx, createThing('half'))
      await proxy.cut()
      await insertThings(tx, createThing('other half'))
    })
    await expect(broken).rejects.toSatisfy(isUnavailable)
    await proxy.heal()
    await expectAvailable()
    expect(await findThing(database, 'half')).toBeNull()
  })

  it('fails a transaction that loses its connection before the commit', async () => {
    const broken = database.transaction(async (tx) => {
      await insertThings(tx, createThing('unsaved'))
      await proxy.cut()
    })
    await expect(broken).rejects.toSatisfy(isUnavailable)
    await proxy.heal()
    await expectAvailable()
    expect(await findThing(database, 'unsaved')).toBeNull()
  })

  it('works again immediately after the server has closed all connections', async () => {
    await Promise.all(operations.map(([, run]) => run(database)))
    await endConnections(test.database, database.dialect.name)
    await expectAvailable()
  })

  it('fails with "unavailable" if another transaction locks the row for too long', async () => {
    await insertThings(test.database, createThing('held'))
    const update = (db: Database<TestTables>) =>
      db.kysely.updateTable('things').set({ amount: 1 }).where('id', '=', 'held').execute()
    await test.database.transaction(async (tx) => {
      await update(tx)
      await expect(update(database)).rejects.toSatisfy(isUnavailable)
    })
    await update(database)
  })

  it('fails with "unavailable" if no connection is left', async () => {
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    let holding = 0
    const holders = [1, 2, 3].map((n) =>
      database.exclusively(`held ${n}`, () => {
        holding += 1
        return held
      }),
    )
    try {
      await expect.poll(() => holding).toBe(3)
      await expect(findThings(database)).rejects.toSatisfy(isUnavailable)
    } finally {
      release()
      await Promise.allSettled(holders)
    }
    await expectAvailable()
  })

  it('names the server, without its password, if it cannot be reached at the start', async () => {
    await proxy.cut()
    const url = new URL(proxy.url)
    url.password = 'hunter2'
    const error = await connect(url.href).catch((e) => e)
    expect(error).toSatisfy(isUnavailable)
    expect(error.message).toContain(`127.0.0.1:${url.port}`)
    expect(error.message).not.toContain('hunter2')
  })
})

describe.runIf(isServer)('a connection that the server rejects', () => {
  it.each([
    ['an unknown database', (url: URL) => (url.pathname = '/nowhere')],
    ['an unknown user', (url: URL) => (url.username = 'nobody_here')],
  ])('is not classified as "unavailable" if the reason is %s', async (_, change) => {
    const url = new URL(test.url)
    change(url)
    const error = await connect(url.href).catch((e) => e)
    expect(error).toBeInstanceOf(Error)
    expect(isUnavailable(error)).toBe(false)
  })
})

describe.runIf(!isServer)('a Database whose SQLite file fails', () => {
  it('rejects writes after the file was moved away, and creates no new file', async () => {
    const { database, url } = test
    const path = url.replace('sqlite:', '')
    await insertThings(database, createThing('a'))
    renameSync(path, `${path}.away`)
    await expect(insertThings(database, createThing('b'))).rejects.toSatisfy(isUnavailable)
    const write = database.transaction((tx) => insertThings(tx, createThing('b')))
    await expect(write).rejects.toSatisfy(isUnavailable)
    expect(existsSync(path)).toBe(false)
    renameSync(`${path}.away`, path)
    await insertThings(database, createThing('c'))
    expect((await findThings(database)).map(({ id }) => id)).toEqual(['a', 'c'])
  })

  it('rejects writes while the disk is full, keeps the data, and works again once there is space', async () => {
    const { database } = test
    await insertThings(database, createThing('a'))
    await sql`pragma max_page_count = 20`.execute(database.kysely)
    const large = (id: string) => createThing(id, { owner: 'x'.repeat(200_000) })
    await expect(insertThings(database, large('b'))).rejects.toSatisfy(isUnavailable)
    const write = database.transaction(async (tx) => {
      await insertThings(tx, createThing('c'))
      await insertThings(tx, large('d'))
    })
    await expect(write).rejects.toSatisfy(isUnavailable)
    await sql`pragma max_page_count = 1000000`.execute(database.kysely)
    await database.transaction((tx) => insertThings(tx, large('e')))
    expect((await findThings(database)).map(({ id }) => id)).toEqual(['a', 'e'])
  })

  it('delays writes, but not reads, while another process has locked the file', async () => {
    const other = await connect<TestTables>(test.url)
    let written: Promise<void> | undefined
    await other.transaction(async (tx) => {
      await insertThings(tx, createThing('theirs'))
      written = insertThings(test.database, createThing('ours'))
      expect(await findThings(test.database)).toEqual([])
      await new Promise((resolve) => setTimeout(resolve, 50))
    })
    await written
    expect(await findThings(test.database)).toHaveLength(2)
    await other.close()
  })

  it('fails with "unavailable" if the file stays locked for too long', async () => {
    const hasty = await connect<TestTables>(test.url, { timeout: 50 })
    await test.database.transaction(async (tx) => {
      await insertThings(tx, createThing('a'))
      await expect(insertThings(hasty, createThing('b'))).rejects.toSatisfy(isUnavailable)
      const write = hasty.transaction((mine) => insertThings(mine, createThing('b')))
      await expect(write).rejects.toSatisfy(isUnavailable)
    })
    await insertThings(hasty, createThing('b'))
    await hasty.close()
  })
})

async function endConnections(admin: Database, dialect: string): Promise<void> {
  if (dialect === 'postgres') {
    await sql`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`.execute(admin.kysely)
    return
  }
  const { rows } = await sql<{ id: number }>`select id from information_schema.processlist
    where db = database() and id <> connection_id()`.execute(admin.kysely)
  for (const { id } of rows) await sql`kill ${sql.lit(id)}`.execute(admin.kysely).catch(() => {})
}
