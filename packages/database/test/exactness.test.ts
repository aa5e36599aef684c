import type { Database } from '@tollgate/database'
import fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TestDatabase } from '../../../test-support/create-test-database.ts'
import {
  createThing,
  createThingsDatabase,
  findThing,
  insertThings,
  type TestTables,
} from './things.ts'

let test: TestDatabase
let database: Database<TestTables>
beforeAll(async () => {
  test = await createThingsDatabase()
  database = test.database
})
afterAll(() => test.drop())

describe('a text column', () => {
  const alike = [
    ['case', 'Ada', 'ada'],
    ['a trailing space', 'space', 'space '],
    ['a leading space', 'lead', ' lead'],
    ['a trailing tab', 'tab', 'tab\t'],
    ['an accent', 'resume', 'resumé'],
    ['Unicode normalisation', 'é', 'e\u0301'],
    ['German ß', 'strasse', 'straße'],
    ['Turkish i', 'I', 'ı'],
    ['full-width letters', 'A', 'Ａ'],
    ['an invisible character', 'zero', 'ze\u200bro'],
    ['two emoji', '👩', '👨'],
    ['an emoji variant', '❤', '❤️'],
    ['a leading zero', '007', '7'],
    ['an exponent', '1e1', '10'],
    ['a backslash', 'back\\slash', 'backslash'],
  ]
  it.each(alike)('distinguishes texts that differ in %s, also in a unique key', async (_, a, b) => {
    await insertThings(
      database,
      createThing(`1${a}`, { name: a }),
      createThing(`1${b}`, { name: b }),
    )
    expect((await findThing(database, `1${a}`))?.name).toBe(a)
    expect((await findThing(database, `1${b}`))?.name).toBe(b)
    const byName = database.statement<{ name: string }, { id: string }>((db, param) =>
      db.selectFrom('things').select('id').where('name', '=', param('name')),
    )
    expect((await byName({ name: a })).rows).toEqual([{ id: `1${a}` }])
    expect((await byName({ name: b })).rows).toEqual([{ id: `1${b}` }])
  })

  it('returns text exactly as it was stored, whatever characters it contains', async () => {
    const text = fc.string({ unit: 'binary', maxLength: 60 }).filter((s) => !s.includes('\0'))
    const store = database.statement<{ id: string; owner: string }>((db, param) =>
      db
        .insertInto('things')
        .values({ id: param('id'), owner: param('owner'), amount: 0, flagged: 0 }),
    )
    const load = database.statement<{ id: string; owner: string }, { owner: string }>((db, param) =>
      db
        .selectFrom('things')
        .select('owner')
        .where('id', '=', param('id'))
        .where('owner', '=', param('owner')),
    )
    let count = 0
    await fc.assert(
      fc.asyncProperty(text, async (owner) => {
        const id = `text${count++}`
        await store({ id, owner })
        expect((await load({ id, owner })).rows).toEqual([{ owner }])
      }),
      { examples: [["'; drop table things; --"], ['\\'], ["\\'"], ['"`$1?:x'], ['%_'], ['']] },
    )
  })

  it('accepts a megabyte', async () => {
    const owner = 'ü'.repeat(500_000)
    await insertThings(database, createThing('large', { owner }))
    expect((await findThing(database, 'large'))?.owner).toBe(owner)
  })

  it('rejects text that is too long for its column instead of truncating it', async () => {
    await expect(insertThings(database, createThing('x'.repeat(65)))).rejects.toThrow()
    await expect(
      insertThings(database, createThing('long', { name: '😀'.repeat(201) })),
    ).rejects.toThrow()
    await insertThings(database, createThing('😀'.repeat(64), { name: '😀'.repeat(200) }))
    expect(await findThing(database, 'long')).toBeNull()
  })

  it('sorts text by Unicode code points', async () => {
    await insertThings(
      database,
      createThing('s-b'),
      createThing('s-B'),
      createThing('s-a'),
      createThing('s-é'),
      createThing('s-z'),
    )
    const found = await database.kysely
      .selectFrom('things')
      .select('id')
      .where('id', 'like', 's-%')
      .orderBy('id')
      .execute()
    expect(found.map(({ id }) => id)).toEqual(['s-B', 's-a', 's-b', 's-z', 's-é'])
  })
})

describe('a Database', () => {
  it('returns stored numbers and booleans as numbers', async () => {
    const amount = Number.MAX_SAFE_INTEGER
    const insert = database.statement<{ id: string; amount: number; at: number; flagged: boolean }>(
      (db, param) =>
        db.insertInto('things').values({
          id: param('id'),
          amount: param('amount'),
          done_at: param('at'),
          flagged: param('flagged') as never,
        }),
    )
    await insert({ id: 'number', amount, at: 1764000000123, flagged: true })
    await insert({ id: 'negative', amount: -amount, at: -1, flagged: false })
    expect(await findThing(database, 'number')).toEqual(
      createThing('number', { amount, done_at: 1764000000123, flagged: 1 }),
    )
    expect(await findThing(database, 'negative')).toEqual(
      createThing('negative', { amount: -amount, done_at: -1, flagged: 0 }),
    )
  })

  it('returns the values of a counter column as numbers', async () => {
    const { fn } = database.kysely
    const [row] = await database.kysely
      .selectFrom('things')
      .select([fn.countAll<number>().as('count'), fn.max('done_at').as('last')])
      .where('id', '=', 'none')
      .execute()
    expect(row).toEqual({ count: 0, last: null })
  })

  it.each([
    ['undefined', undefined],
    ['a Date', new Date(0)],
    ['an object', { toString: () => 'x' }],
    ['an array', ['x']],
    ['NaN', Number.NaN],
    ['infinity', Number.POSITIVE_INFINITY],
    ['a symbol', Symbol('x')],
    ['text with NUL', 'a\0b'],
    ['half a surrogate pair', 'a\ud800'],
  ])('rejects values that the three databases store differently: %s', async (_, value) => {
    const find = database.statement<{ id: unknown }>((db, param) =>
      db
        .selectFrom('things')
        .selectAll()
        .where('id', '=', param('id') as never),
    )
    await expect(find({ id: value })).rejects.toThrow(TypeError)
    const run = sql`select ${value} as value`.execute(database.kysely)
    await expect(run).rejects.toThrow(TypeError)
  })
})
