import { connect, type Database, isUnavailable } from '@tollgate/database'
import { sql } from 'kysely'
import mysql from 'mysql2/promise'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  createTestDatabase,
  type TestDatabase,
} from '../../../test-support/create-test-database.ts'
import {
  findMariadb,
  type MariadbServer,
  startMariadbServer,
} from '../../../test-support/mariadb-server.ts'
import { classifyBuiltInError } from '../src/error-kinds.ts'
import { type ErrorKind, hasErrorKind } from '../src/errors.ts'
import { createThing, createThings, findThings, insertThings, type TestTables } from './things.ts'

const kind = process.env.TEST_DATABASE
const installed = kind === 'mariadb' ? findMariadb() : null
if (kind === 'mariadb' && !installed) {
  console.log(
    'Errors of a whole MariaDB server are left out: install mariadb-server, or use .ci/run',
  )
}

const KINDS: readonly ErrorKind[] = ['broken', 'slow', 'undone', 'duplicate', 'impossible']
const kindsOf = (error: unknown) =>
  KINDS.filter((one) => hasErrorKind(error, [one], classifyBuiltInError))

type DriverError = Error & { readonly errno?: number; readonly code?: string }

/** Returns the error that rejects the promise. */
async function errorOf(work: Promise<unknown>): Promise<DriverError> {
  const error = await work.then(
    () => null,
    (thrown) => thrown,
  )
  if (!(error instanceof Error)) throw new Error('The work succeeded')
  return error
}

/** A second connection to the server, from another client than the package. */
interface Neighbour {
  ask(text: string): Promise<Record<string, unknown>[]>
  end(): Promise<void>
}

async function connectNeighbour(url: string): Promise<Neighbour> {
  if (kind === 'postgres') {
    const client = new pg.Client(url)
    await client.connect()
    return { ask: async (text) => (await client.query(text)).rows, end: () => client.end() }
  }
  const connection = await mysql.createConnection({ uri: url, multipleStatements: true })
  return {
    ask: async (text) => (await connection.query<mysql.RowDataPacket[]>(text))[0],
    end: () => connection.end(),
  }
}

/**
 * Statements and expected error numbers for each server. MariaDB's driver identifies an error by
 * its number.
 */
const SAID = {
  postgres: {
    lockTable: 'begin; lock table things in access exclusive mode',
    unlock: 'rollback',
    findWaiting: `select pid as id from pg_stat_activity where wait_event_type = 'Lock'
      and datname = current_database()`,
    killQuery: (id: unknown) => `select pg_cancel_backend(${id})`,
    killConnection: (id: unknown) => `select pg_terminate_backend(${id})`,
    slow: '57014',
    cancelled: { code: '57014', kind: 'slow' },
    killed: ['57P01'],
  },
  mariadb: {
    lockTable: 'lock tables things write',
    unlock: 'unlock tables',
    findWaiting: `select id from information_schema.processlist
      where state like 'Waiting for table%' and db = database()`,
    killQuery: (id: unknown) => `kill query ${id}`,
    killConnection: (id: unknown) => `kill ${id}`,
    slow: 1969,
    cancelled: { code: 1317, kind: 'broken' },
    killed: [1927, 'PROTOCOL_CONNECTION_LOST'],
  },
} as const

describe.runIf(kind !== 'sqlite')('an error of the database server', () => {
  const said = SAID[kind === 'postgres' ? 'postgres' : 'mariadb']
  let test: TestDatabase
  let database: Database<TestTables>
  let neighbour: Neighbour
  beforeEach(async () => {
    test = await createTestDatabase()
    await createThings(test.database)
    await insertThings(test.database, createThing('a'), createThing('b'))
    database = await connect<TestTables>(test.url, { poolSize: 2, timeout: 1500 })
    neighbour = await connectNeighbour(test.url)
  })
  afterEach(async () => {
    await neighbour.end()
    await database.close()
    await test.drop()
  })

  /**
   * Returns the error of a read that waits for a locked table while another connection runs a
   * statement about it.
   */
  async function whileWaiting(text: (id: unknown) => string): Promise<DriverError> {
    // On a busy machine the usual timeout could end the read before the other connection does.
    await database.close()
    database = await connect<TestTables>(test.url, { poolSize: 2, timeout: 60_000 })
    await neighbour.ask(said.lockTable)
    const failed = errorOf(findThings(database))
    const other = await connectNeighbour(test.url)
    try {
      let waiting: Record<string, unknown> | undefined
      await expect
        .poll(async () => {
          waiting = (await other.ask(said.findWaiting))[0]
          return waiting
        })
        .toBeDefined()
      await other.ask(text(waiting?.id))
      return await failed
    } finally {
      await other.end()
      await neighbour.ask(said.unlock)
    }
  }

  /** The error's number if the server sends one, otherwise its code. */
  const codeOf = (error: DriverError) => error.errno ?? error.code

  async function expectToGoOn(): Promise<void> {
    for (let i = 0; i < 4; i += 1) expect(await findThings(database)).toHaveLength(2)
  }

  it('has the kind "slow" for a statement that takes too long [threat F2]', async () => {
    await neighbour.ask(said.lockTable)
    const error = await errorOf(findThings(database))
    await neighbour.ask(said.unlock)
    expect(codeOf(error)).toBe(said.slow)
    expect(kindsOf(error)).toEqual(['slow'])
    expect(isUnavailable(error)).toBe(true)
    await expectToGoOn()
  })

  it('has the kind "slow" for a statement in a transaction that takes too long [threat F2]', async () => {
    await neighbour.ask(said.lockTable)
    const error = await errorOf(
      database.transaction((tx) => insertThings(tx as Database<TestTables>, createThing('c'))),
    )
    await neighbour.ask(said.unlock)
    expect(isUnavailable(error)).toBe(true)
    await expectToGoOn()
  })

  it('says that another client cancelled the statement [threat F2]', async () => {
    const error = await whileWaiting(said.killQuery)
    expect({ code: codeOf(error), kind: kindsOf(error)[0] }).toEqual(said.cancelled)
    expect(isUnavailable(error)).toBe(true)
    await expectToGoOn()
  })

  it('says that another client ended the connection [threat F2]', async () => {
    const error = await whileWaiting(said.killConnection)
    expect(said.killed).toContain(codeOf(error))
    expect(kindsOf(error)).toEqual(['broken'])
    await expectToGoOn()
  })

  it('has the kind "slow" for a row that another transaction keeps locked [threat F2]', async () => {
    await neighbour.ask(`begin; update things set amount = 1 where id = 'a'`)
    const update = database.kysely.updateTable('things').set({ amount: 2 }).where('id', '=', 'a')
    const error = await errorOf(update.execute())
    await neighbour.ask('rollback')
    expect(kindsOf(error)).toEqual(['slow'])
    await expectToGoOn()
  })

  it('has the kind "undone" if every retry ends in a deadlock', async () => {
    const error = await errorOf(
      kind === 'postgres'
        ? neighbour.ask(`do $$ begin raise exception sqlstate '40P01'; end $$`)
        : neighbour.ask(`signal sqlstate '40001' set mysql_errno = 1213`),
    )
    expect(kindsOf(error)).toEqual(['undone'])
  })

  it('says that this user has too many connections [threat F2]', async () => {
    const name = `limited_${crypto.randomUUID().slice(0, 8)}`
    const { pathname } = new URL(test.url)
    await neighbour.ask(
      kind === 'postgres'
        ? `create role ${name} login connection limit 1`
        : `create user ${name} with max_user_connections 1;
           grant all on ${pathname.slice(1)}.* to ${name}`,
    )
    const url = new URL(test.url)
    url.username = name
    const first = await connectNeighbour(url.href)
    try {
      const error = await errorOf(connect(url.href))
      expect(isUnavailable(error)).toBe(true)
    } finally {
      await first.end()
      await neighbour.ask(kind === 'postgres' ? `drop role ${name}` : `drop user ${name}`)
    }
  })
})

describe.runIf(installed)('a Database whose MariaDB server fails', () => {
  let server: MariadbServer
  let url: string
  let database: Database<TestTables>
  beforeAll(async () => {
    server = await startMariadbServer(installed ?? '', [
      'max-connections=8',
      'max-allowed-packet=1M',
      'innodb-file-per-table=0',
      'innodb-data-file-path=ibdata1:12M:autoextend:max:40M',
    ])
    await server.ask('create user app; grant all on test.* to app')
    url = server.url.replace('root@', 'app@')
  })
  beforeEach(async () => {
    // Long enough for a busy machine: these errors come from the server, not from our own timeout.
    database = await connect<TestTables>(url, { poolSize: 2, timeout: 60_000 })
    await createThings(database as Database)
  })
  afterEach(() => database.close())
  afterAll(() => server.remove())

  const insert = () => insertThings(database, createThing(crypto.randomUUID()))
  /** Counts statements that wait at the server, such as `select sleep(…)`. */
  const countSleeping = async () => {
    const { rows } = await sql<{ n: unknown }>`
      select count(*) as n from information_schema.processlist where info like 'select sleep(%'`.execute(
      database.kysely,
    )
    return Number(rows[0]?.n)
  }

  it('fails with "unavailable" while the server is read-only, and after the first failed write also for reads [threat Q5]', async () => {
    await server.ask('set global read_only = 1')
    try {
      const refused = await errorOf(insert())
      expect(refused.errno).toBe(1290)
      expect(kindsOf(refused)).toEqual(['broken'])
      await expect(findThings(database)).rejects.toThrow('is read-only')
      await expect(connect(url)).rejects.toThrow('is read-only')
    } finally {
      await server.ask('set global read_only = 0')
    }
    await insert()
  })

  it('fails with "unavailable" if the server accepts no more connections [threat F2]', async () => {
    const taken: mysql.Connection[] = []
    try {
      for (;;) taken.push(await mysql.createConnection(url))
    } catch (error) {
      expect(kindsOf(error)).toEqual(['broken'])
    }
    expect(await errorOf(connect(url))).toSatisfy(isUnavailable)
    await Promise.all(taken.map((connection) => connection.end()))
    await insert()
  })

  it('rejects a value that is too large for the server, and then handles the next request', async () => {
    const large = createThing('large', { owner: 'x'.repeat(2_000_000) })
    const refused = await errorOf(
      sql`select ${large.owner} as owner`.execute(database.kysely) as Promise<unknown>,
    )
    expect(refused.message).toContain('max_allowed_packet')
    expect(isUnavailable(refused)).toBe(false)
    for (let i = 0; i < 4; i += 1) await insert()
  })

  it('fails with "unavailable" after a shutdown, and works again after the restart [threat F2]', async () => {
    const waiting = errorOf(sql`select sleep(30)`.execute(database.kysely))
    await expect.poll(countSleeping).toBe(1)
    await server.stop()
    expect(kindsOf(await waiting)).toEqual(['broken'])
    expect(await errorOf(insert())).toSatisfy(isUnavailable)
    await server.start()
    await expect.poll(() => insert().then(() => 'here', String)).toBe('here')
  })

  it('fails writes with "unavailable" while the disk is full, and still handles reads [threat F2]', async () => {
    await sql`create table filler (id int auto_increment primary key, text longtext)`.execute(
      database.kysely,
    )
    const fill = async () => {
      for (;;) {
        const text = 'x'.repeat(900_000)
        await sql`insert into filler (text) values (${text})`.execute(database.kysely)
      }
    }
    const full = await errorOf(fill())
    expect(full.errno).toBe(1114)
    expect(kindsOf(full)).toEqual(['broken'])
    await findThings(database)
  })
})
