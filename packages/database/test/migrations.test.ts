import {
  addColumn,
  createIndex,
  createTable,
  type Database,
  databaseNow,
  dropNotNull,
  hasColumn,
  hasTable,
  type Migration,
  migrate,
  planMigrations,
  readMigrations,
  requireMigrations,
  SchemaTooNew,
  SchemaTooOld,
} from '@tollgate/database'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  createTestDatabase,
  type TestDatabase,
} from '../../../test-support/create-test-database.ts'
import { startChild } from './child-process.ts'

let test: TestDatabase
let database: Database
beforeEach(async () => {
  test = await createTestDatabase()
  database = test.database
})
afterEach(() => test.drop())

const first: Migration = {
  id: '001-first',
  up: (db, columns) =>
    createTable(db, 'first', { columns: { id: columns.id }, primaryKey: ['id'] }),
}
const second: Migration = {
  id: '002-second',
  async up(db, columns) {
    await addColumn(db, 'first', 'name', columns.string(20).nullable())
    await createIndex(db, { name: 'first_by_name', table: 'first', columns: ['name'] })
  },
}

const findApplied = async (db: Database) => {
  const rows = await db.kysely
    .selectFrom('tollgate_migrations')
    .selectAll()
    .orderBy('set')
    .orderBy('id')
    .execute()
  return rows.map((row) => `${row.set}/${row.id}`)
}

describe('planMigrations()', () => {
  const filled: Migration = {
    id: '003-filled',
    async up(db) {
      const has = (await hasColumn(db, 'first', 'name')) && (await hasTable(db, 'first'))
      if (!has) throw new Error('The plan does not know its own columns')
      await db.kysely.insertInto('first').values({ id: 'a', name: "it's ? $1" }).execute()
      await dropNotNull(db, 'first', 'name')
    },
    needsOffline: async () => true,
  }
  const set = { name: 'app', migrations: [first, second, filled] }

  it('lists the statements of pending migrations, and changes nothing', async () => {
    const planned = await planMigrations(database, set)
    expect(planned.map(({ set, id, needsOffline }) => [set, id, needsOffline])).toEqual([
      ['app', '001-first', false],
      ['app', '002-second', false],
      ['app', '003-filled', true],
    ])
    expect(await hasTable(database, 'tollgate_migrations')).toBe(false)
    expect(await hasTable(database, 'first')).toBe(false)
    const [, , last] = planned
    expect(last?.statements[0]).toContain("'it''s ? $1'")
    expect(last?.statements[1]).toMatch(/^-- makes the column first.name nullable$|drop not null$/)
  })

  it('lists statements that have the same effect as migrate() when they are run by hand', async () => {
    for (const { statements } of await planMigrations(database, set)) {
      for (const statement of statements) {
        if (!statement.startsWith('--')) await sql.raw(statement).execute(database.kysely)
      }
    }
    expect(await migrate(database, set)).toEqual({ applied: [] })
    const rows = await database.kysely.selectFrom('first').selectAll().execute()
    expect(rows).toEqual([{ id: 'a', name: "it's ? $1" }])
  })

  it('lists only what is left to do, and nothing once all migrations have run', async () => {
    await migrate(database, { name: 'app', migrations: [first] })
    const [next, ...more] = await planMigrations(database, { ...set, migrations: [first, second] })
    expect([next?.id, more]).toEqual(['002-second', []])
    expect(next?.statements.join()).not.toContain('create table')
    await migrate(database, set, { offline: true })
    expect(await planMigrations(database, set)).toEqual([])
    await expect(planMigrations(database, { name: 'app', migrations: [first] })).rejects.toThrow(
      SchemaTooNew,
    )
  })
})

describe('migrate()', () => {
  it('runs each migration once, in order', async () => {
    const set = { name: 'app', migrations: [first] }
    expect(await migrate(database, set)).toEqual({ applied: ['001-first'] })
    expect(await migrate(database, set)).toEqual({ applied: [] })
    await database.kysely.insertInto('first').values({ id: 'kept' }).execute()
    const longer = { name: 'app', migrations: [first, second] }
    expect(await migrate(database, longer)).toEqual({ applied: ['002-second'] })
    expect(await database.kysely.selectFrom('first').selectAll().execute()).toEqual([
      { id: 'kept', name: null },
    ])
  })

  it('keeps the migrations of different packages separate', async () => {
    const other: Migration = { id: '001-first', up: async () => {} }
    await migrate(database, { name: 'app', migrations: [first, second] })
    await migrate(database, { name: 'App', migrations: [other] })
    expect(await findApplied(database)).toEqual([
      'App/001-first',
      'app/001-first',
      'app/002-second',
    ])
  })

  it('rejects a schema that is newer than the code, and explains what to do [threat F3]', async () => {
    await migrate(database, { name: 'app', migrations: [first, second] })
    const old = migrate(database, { name: 'app', migrations: [first] })
    await expect(old).rejects.toThrow(SchemaTooNew)
    await expect(old).rejects.toThrow(/002-second.*Run the newer build/)
  })

  it('rejects a schema that was created by other migrations, and leaves it unchanged', async () => {
    await migrate(database, { name: 'app', migrations: [{ ...first, id: '001-early' }] })
    const before = await readMigrations(database)
    const set = { name: 'app', migrations: [{ ...first, id: '0001-initial' }, second] }
    for (const run of [migrate, requireMigrations]) {
      const attempt = run(database, set)
      await expect(attempt).rejects.toThrow(SchemaTooOld)
      await expect(attempt).rejects.toThrow(/001-early.*start with an empty database/)
    }
    expect(await readMigrations(database)).toEqual(before)
  })

  it('stops at a migration that fails, and continues from there next time', async () => {
    let broken = true
    const shaky: Migration = {
      id: '002-second',
      async up(db, columns) {
        await second.up(db, columns)
        if (broken) throw new Error('out of luck')
      },
    }
    const set = { name: 'app', migrations: [first, shaky] }
    await expect(migrate(database, set)).rejects.toThrow('out of luck')
    broken = false
    const { applied } = await migrate(database, set)
    expect(applied.at(-1)).toBe('002-second')
    expect(await findApplied(database)).toEqual(['app/001-first', 'app/002-second'])
  })

  it('rejects two migrations with the same id', async () => {
    const twice = migrate(database, {
      name: 'app',
      migrations: [first, { ...second, id: first.id }],
    })
    await expect(twice).rejects.toThrow(TypeError)
  })

  it('rejects a new column that is not nullable', async () => {
    await migrate(database, { name: 'app', migrations: [first] })
    const up: Migration['up'] = (db, columns) => addColumn(db, 'first', 'must', columns.id)
    const set = { name: 'more', migrations: [{ id: '001', up }] }
    await expect(migrate(database, set)).rejects.toThrow(/nullable/)
  })

  it('runs once if several processes start concurrently on an empty database', async () => {
    const children = Array.from({ length: 4 }, () => startChild('migrate', test.url, '100'))
    const exits = await Promise.all(children.map(({ ended }) => ended))
    expect(exits).toEqual([0, 0, 0, 0])
    const last = children.map(({ lines }) => lines.at(-1)?.trim()).sort()
    expect(last).toEqual(['applied', 'applied', 'applied', 'applied first second'])
    expect(await findApplied(database)).toEqual(['slow/first', 'slow/second'])
  })

  it('completes a migration whose process was killed halfway', async () => {
    const victim = startChild('migrate', test.url, '60000')
    await victim.untilLines(1)
    victim.kill()
    await victim.ended
    const later = startChild('migrate', test.url, '0')
    expect(await later.ended).toBe(0)
    expect(later.lines.at(-1)).toBe('applied first second')
    for (const table of ['first_one', 'second_one', 'first_two', 'second_two']) {
      expect(await database.kysely.selectFrom(table).selectAll().execute()).toEqual([])
    }
  })

  it('completes in a process that was waiting while another process was killed halfway', async () => {
    const victim = startChild('migrate', test.url, '60000')
    await victim.untilLines(1)
    const waiting = startChild('migrate', test.url, '0')
    await new Promise((resolve) => setTimeout(resolve, 300))
    victim.kill()
    expect(await waiting.ended).toBe(0)
    expect(await findApplied(database)).toEqual(['slow/first', 'slow/second'])
  })

  // Another node of a Galera cluster holds the row, but no named lock on this server.
  it.runIf(process.env.TEST_DATABASE === 'mariadb')(
    'waits for a lease of another process until it is released or expires',
    async () => {
      await migrate(database, { name: 'app', migrations: [first] })
      const locks = () => database.kysely.updateTable('tollgate_locks')
      const hold = (milliseconds: number) =>
        locks()
          .set({
            holder: 'another node',
            held_until: sql`${databaseNow(database)} + ${milliseconds}`,
          })
          .where('name', '=', 'migrate.lease')
          .executeTakeFirstOrThrow()
      expect((await hold(60_000)).numUpdatedRows).toBe(1n)
      const holders: unknown[] = []
      const look: Migration['up'] = async (db) => {
        const rows = await db.kysely.selectFrom('tollgate_locks').selectAll().execute()
        holders.push(...rows.map(({ holder }) => holder))
      }
      const waiting = migrate(database, { name: 'other', migrations: [{ id: '001', up: look }] })
      await new Promise((resolve) => setTimeout(resolve, 500))
      await hold(-1) // its holder died, and the lease has expired
      expect((await waiting).applied).toEqual(['001'])
      expect(holders).not.toContain('another node')
    },
  )

  it('waits for no lock if there is nothing to do', async () => {
    await migrate(database, { name: 'app', migrations: [first] })
    const victim = startChild('migrate', test.url, '60000')
    await victim.untilLines(1)
    // On SQLite readers never wait for the writer.
    expect(await migrate(database, { name: 'app', migrations: [first] })).toEqual({ applied: [] })
    victim.kill()
    await victim.ended
  })
})

describe('a counter column', () => {
  it('assigns the next number to each row', async () => {
    const up: Migration['up'] = (db, columns) =>
      createTable(db, 'feed', { columns: { seq: columns.counter, body: columns.text } })
    await migrate(database, { name: 'feed', migrations: [{ id: '001', up }] })
    for (const body of ['a', 'b', 'c']) {
      await database.kysely.insertInto('feed').values({ body }).execute()
    }
    const rows = await database.kysely.selectFrom('feed').selectAll().orderBy('seq').execute()
    expect(rows).toEqual([
      { seq: 1, body: 'a' },
      { seq: 2, body: 'b' },
      { seq: 3, body: 'c' },
    ])
  })
})
