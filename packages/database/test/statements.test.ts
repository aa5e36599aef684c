import {
  addColumn,
  type ColumnDefinitions,
  connect,
  createIndex,
  type Database,
  migrate,
} from '@tollgate/database'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { TestDatabase } from '../../../test-support/create-test-database.ts'
import {
  createThing,
  createThingsDatabase,
  findThings,
  insertThings,
  type TestTables,
} from './things.ts'

const queries: string[] = []
let test: TestDatabase
let database: Database<TestTables>
beforeEach(async () => {
  test = await createThingsDatabase({ onQuery: (text) => queries.push(text) })
  database = test.database
  queries.length = 0
})
afterEach(() => test.drop())

const extra = {
  id: '001-extra',
  async up(tx: Database, columns: ColumnDefinitions) {
    await addColumn(tx, 'things', 'extra', columns.string(10).nullable())
    await createIndex(tx, { name: 'things_extra', table: 'things', columns: ['extra'] })
  },
}

describe('statement(), which prepares a query once,', () => {
  it('mixes parameters and constants, in any order and repeatedly', async () => {
    await insertThings(database, createThing('a', { amount: 3 }), createThing('b', { amount: 5 }))
    const find = database.statement<{ id: string; least: number }, { id: string; amount: number }>(
      (db, param) =>
        db
          .selectFrom('things')
          .select(['id', 'amount'])
          .where('flagged', '=', 0)
          .where('amount', '>=', param('least'))
          .where((eb) => eb.or([eb('id', '=', param('id')), eb('amount', '>', param('least'))]))
          .orderBy('id'),
    )
    expect((await find({ id: 'a', least: 3 })).rows).toEqual([
      { id: 'a', amount: 3 },
      { id: 'b', amount: 5 },
    ])
    expect((await find({ least: 4, id: 'a' })).rows).toEqual([{ id: 'b', amount: 5 }])
  })

  it('builds its query only once', async () => {
    let built = 0
    const find = database.statement<{ id: string }>((db, param) => {
      built++
      return db.selectFrom('things').selectAll().where('id', '=', param('id'))
    })
    expect(built).toBe(0)
    await Promise.all([find({ id: 'a' }), find({ id: 'b' })])
    await find({ id: 'c' })
    expect(built).toBe(1)
  })

  it('returns how many rows matched, whether they changed or not', async () => {
    await insertThings(database, createThing('a', { amount: 1 }), createThing('b', { amount: 2 }))
    const set = database.statement<{ amount: number }>((db, param) =>
      db.updateTable('things').set({ amount: param('amount') }),
    )
    expect(await set({ amount: 2 })).toMatchObject({ rows: [], affected: 2 })
    expect(await set({ amount: 2 })).toMatchObject({ rows: [], affected: 2 })
    const remove = database.statement<{ id: string }>((db, param) =>
      db.deleteFrom('things').where('id', '=', param('id')),
    )
    expect((await remove({ id: 'a' })).affected).toBe(1)
    expect((await remove({ id: 'a' })).affected).toBe(0)
    const all = database.statement((db) => db.selectFrom('things').select('id'))
    expect(await all({})).toMatchObject({ rows: [{ id: 'b' }], affected: 0 })
  })

  it('names a parameter that is missing', async () => {
    const find = database.statement<{ id?: string }>((db, param) =>
      db
        .selectFrom('things')
        .selectAll()
        .where('id', '=', param('id') as never),
    )
    await expect(find({})).rejects.toThrow(/"id"/)
  })

  it('runs in the transaction that is passed to it, or outside of transactions if none is passed', async () => {
    const insert = database.statement<{ id: string }>((db, param) =>
      db.insertInto('things').values({ id: param('id'), amount: 0, flagged: 0 }),
    )
    const fail = database.transaction(async (tx) => {
      await insert({ id: 'inside' }, tx)
      throw new Error('no')
    })
    await expect(fail).rejects.toThrow('no')
    await insert({ id: 'outside' })
    expect((await findThings(database)).map(({ id }) => id)).toEqual(['outside'])
  })

  it('can be prepared on a transaction', async () => {
    await database.transaction(async (tx) => {
      const insert = tx.statement<{ id: string }>((db, param) =>
        db.insertInto('things').values({ id: param('id'), amount: 0, flagged: 0 }),
      )
      await insert({ id: 'a' })
      await insert({ id: 'b' })
    })
    expect(await findThings(database)).toHaveLength(2)
  })

  it('still works after another process has changed the table', async () => {
    await insertThings(database, createThing('a'))
    const all = database.statement((db) => db.selectFrom('things').selectAll())
    const bound = () => database.transaction(async (tx) => (await all({}, tx)).rows)
    await Promise.all([all({}), all({}), bound()])
    const other = await connect(test.url)
    await migrate(other, { name: 'extra', migrations: [extra] })
    await other.close()
    const expected = [{ ...createThing('a'), extra: null }]
    expect(await bound()).toEqual(expected)
    expect((await all({})).rows).toEqual(expected)
  })
})

describe('the onQuery option', () => {
  it('receives every statement except BEGIN, COMMIT and the like', async () => {
    const find = database.statement<{ id: string }>((db, param) =>
      db.selectFrom('things').select('id').where('id', '=', param('id')),
    )
    await database.transaction(async (tx) => {
      await find({ id: 'a' }, tx)
      await tx.kysely.deleteFrom('things').execute()
    })
    await database.exclusively('x', (tx) => find({ id: 'a' }, tx))
    await find({ id: 'a' })
    expect(queries.map((text) => text.split(' ')[0])).toEqual([
      'select',
      'delete',
      'select',
      'select',
    ])
  })
})

describe('the kysely object of a database', () => {
  it("rejects Kysely's own transactions, because they would not be repeated after a deadlock", async () => {
    const own = database.kysely.transaction().execute(async () => {})
    await expect(own).rejects.toThrow('database.transaction')
  })
})
