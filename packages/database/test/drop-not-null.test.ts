import {
  connect,
  createColumnDefinitions,
  createTable,
  type Database,
  dropNotNull,
} from '@tollgate/database'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  createTestDatabase,
  type TestDatabase,
} from '../../../test-support/create-test-database.ts'
import { describeSchema } from '../../../test-support/describe-schema.ts'
import { startChild } from './child-process.ts'

let test: TestDatabase
let database: Database
beforeEach(async () => {
  test = await createTestDatabase()
  database = test.database
})
afterEach(() => test.drop())

const kind = process.env.TEST_DATABASE

async function createOrders(on: Database, name = 'orders', guest = 'required') {
  const columns = createColumnDefinitions(on)
  const text = columns.string(40)
  await createTable(on, name, {
    columns: {
      id: columns.counter,
      guest: guest === 'required' ? text : text.nullable(),
      amount: columns.integer,
    },
    indexes: { [`${name}_by_guest`]: ['guest', 'amount'] },
  })
}
const insert = (on: Database, guest: string | null, table = 'orders') =>
  on.kysely.insertInto(table).values({ guest, amount: 1 }).execute()

async function readGuests(on: Database, table = 'orders') {
  const rows = await on.kysely.selectFrom(table).selectAll().orderBy('id').execute()
  return rows.map(({ id, guest }) => `${id} ${guest}`)
}

describe('dropNotNull(), which makes a column nullable,', () => {
  it('creates the same table as one created with a nullable column', async () => {
    await createOrders(database)
    await insert(database, 'ada')
    const before = await describeSchema(database, 'orders')
    await dropNotNull(database, 'orders', 'guest')
    const after = await describeSchema(database, 'orders')
    expect(after).not.toEqual(before)
    const made = await createTestDatabase()
    await createOrders(made.database, 'orders', 'optional')
    expect(after).toEqual(await describeSchema(made.database, 'orders'))
    await made.drop()
  })

  it('does not disturb other processes that have prepared statements', async () => {
    await createOrders(database)
    const older = await connect(test.url)
    const find = older.statement<{ guest: string }, { id: number }>((db, param) =>
      db.selectFrom('orders').selectAll().where('guest', '=', param('guest')),
    )
    const add = older.statement<{ guest: string }>((db, param) =>
      db.insertInto('orders').values({ guest: param('guest'), amount: 1 }),
    )
    await add({ guest: 'ada' })
    expect((await find({ guest: 'ada' })).rows).toHaveLength(1)
    await dropNotNull(database, 'orders', 'guest')
    await insert(database, null)
    await add({ guest: 'bob' })
    expect((await find({ guest: 'bob' })).rows).toEqual([{ id: 3, guest: 'bob', amount: 1 }])
    expect(await readGuests(older)).toEqual(['1 ada', '2 null', '3 bob'])
    await older.close()
  })

  it('can be interrupted before any of its statements, and repeated', async () => {
    let left = Number.POSITIVE_INFINITY
    const stopping = await connect(test.url, {
      onQuery() {
        if (left-- <= 0) throw new Error('stopped')
      },
    })
    let stopped = 0
    for (let statements = 0; ; statements++) {
      const table = `orders_${statements}`
      await createOrders(database, table)
      await insert(database, 'ada', table)
      left = statements
      const isDone = await dropNotNull(stopping, table, 'guest').then(
        () => true,
        (error) => {
          expect(error.message).toBe('stopped')
          return false
        },
      )
      left = Number.POSITIVE_INFINITY
      if (!isDone) {
        stopped++
        await expect(insert(database, null, table)).rejects.toThrow()
        await expect(insert(stopping, null, table)).rejects.toThrow()
        await dropNotNull(stopping, table, 'guest')
      }
      for (const on of [stopping, database]) await insert(on, null, table)
      expect(await readGuests(database, table)).toHaveLength(3)
      if (isDone) break
    }
    expect(stopped).toBe({ sqlite: 8, postgres: 1, mariadb: 2 }[kind ?? ''])
    await stopping.close()
  })

  it('is completed by the next process if a process was killed while doing it', async () => {
    await createOrders(database)
    await insert(database, 'ada')
    const victim = startChild('dropNotNull', test.url, 'orders', 'guest')
    await victim.untilLines(1)
    victim.kill()
    await victim.ended
    // MariaDB commits each schema change on its own.
    if (kind !== 'mariadb') await expect(insert(database, null)).rejects.toThrow()
    const later = await connect(test.url)
    await dropNotNull(later, 'orders', 'guest')
    for (const on of [later, database]) await insert(on, null)
    expect(await readGuests(database)).toHaveLength(3)
    await later.close()
  })

  it.runIf(kind === 'sqlite')(
    'deletes no rows, not even rows of other tables that refer to the table',
    async () => {
      const run = (text: string) => sql.raw(text).execute(database.kysely)
      await createOrders(database)
      await run('create table lines (of_order integer references orders (id) on delete cascade)')
      await run('create view guests as select guest from orders')
      await run(`create trigger ordered after insert on orders
      begin insert into lines values (new.id); end`)
      for (const guest of ['ada', 'bob']) await insert(database, guest)
      await database.kysely.deleteFrom('orders').where('guest', '=', 'bob').execute()
      await dropNotNull(database, 'orders', 'guest')
      await insert(database, null)
      expect(await readGuests(database)).toEqual(['1 ada', '3 null'])
      expect((await run('select * from lines')).rows).toEqual([{ of_order: 1 }, { of_order: 3 }])
      expect((await run('select * from guests')).rows).toHaveLength(2)
      expect((await run('pragma integrity_check')).rows).toEqual([{ integrity_check: 'ok' }])
      expect((await run('pragma foreign_key_check')).rows).toEqual([])
      expect((await run('pragma writable_schema')).rows).toEqual([{ writable_schema: 0 }])
    },
  )

  it.runIf(kind === 'mariadb')("keeps the column's other attributes", async () => {
    const { kysely } = database
    await sql`create table said (id bigint primary key,
      word varchar(20) character set latin1 collate latin1_bin not null default 'it''s NOT NULL' comment 'a \`NOT NULL\`')`.execute(
      kysely,
    )
    const show = async () => {
      const { rows } = await sql<Record<string, string>>`show create table said`.execute(kysely)
      return rows[0]?.['Create Table'] ?? ''
    }
    const before = await show()
    await dropNotNull(database, 'said', 'word')
    expect(await show()).toBe(
      before.replace("latin1_bin NOT NULL DEFAULT 'it", "latin1_bin DEFAULT 'it"),
    )
    expect(await show()).not.toBe(before)
  })
})
