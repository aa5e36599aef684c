import { type Database, deleteBatch, increase, insertIfAbsent, upsert } from '@tollgate/database'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { TestDatabase } from '../../../test-support/create-test-database.ts'
import {
  createThing,
  createThingsDatabase,
  findThing,
  findThings,
  insertThings,
  type TestTables,
} from './things.ts'

let test: TestDatabase
let database: Database<TestTables>
beforeEach(async () => {
  test = await createThingsDatabase({ timeout: 10_000 })
  database = test.database
})
afterEach(() => test.drop())

describe('insertIfAbsent()', () => {
  it('inserts a row once, and never changes the first row', async () => {
    expect(await insertIfAbsent(database, 'things', { ...createThing('a', { amount: 1 }) })).toBe(
      true,
    )
    expect(await insertIfAbsent(database, 'things', { ...createThing('a', { amount: 2 }) })).toBe(
      false,
    )
    expect(await findThings(database)).toEqual([createThing('a', { amount: 1 })])
  })

  it('respects every unique key', async () => {
    await insertThings(database, createThing('a', { name: 'same' }))
    expect(
      await insertIfAbsent(database, 'things', { ...createThing('b', { name: 'same' }) }),
    ).toBe(false)
    expect(await findThing(database, 'b')).toBeNull()
  })

  it('inserts one row for many concurrent callers', async () => {
    const results = await Promise.all(
      Array.from({ length: 30 }, (_, i) =>
        insertIfAbsent(database, 'things', { ...createThing('a', { amount: i }) }),
      ),
    )
    expect(results.filter(Boolean)).toHaveLength(1)
  })

  it.each([
    ['a missing value', { id: 'a', amount: null, flagged: 0 }],
    ['text that is too long', { id: 'x'.repeat(65), amount: 0, flagged: 0 }],
    ['text for a number', { id: 'a', amount: 'many', flagged: 0 }],
  ])('ignores only duplicates: %s', async (_, row) => {
    await expect(insertIfAbsent(database, 'things', row)).rejects.toThrow()
    expect(await findThings(database)).toEqual([])
  })

  it('does not abort the transaction it is part of', async () => {
    await insertThings(database, createThing('a'))
    await database.transaction(async (tx) => {
      expect(await insertIfAbsent(tx, 'things', { ...createThing('a') })).toBe(false)
      expect(await insertIfAbsent(tx, 'things', { ...createThing('b') })).toBe(true)
    })
    expect(await findThings(database)).toHaveLength(2)
  })
})

describe('increase()', () => {
  const by = { key: ['id'], column: 'amount' }

  it('inserts the row at first, then adds to its number, and keeps its other columns', async () => {
    await increase(database, 'things', { ...createThing('n', { amount: 2, name: 'one' }) }, by)
    await increase(database, 'things', { ...createThing('n', { amount: 40, name: 'two' }) }, by)
    const rows = await database.kysely.selectFrom('things').selectAll().execute()
    expect(rows).toMatchObject([{ id: 'n', amount: 42, name: 'one' }])
  })

  it('loses no addition of many concurrent ones', async () => {
    const row = { ...createThing('n', { amount: 3 }) }
    await Promise.all(Array.from({ length: 40 }, () => increase(database, 'things', row, by)))
    const rows = await database.kysely.selectFrom('things').select('amount').execute()
    expect(rows).toEqual([{ amount: 120 }])
  })
})

describe('upsert()', () => {
  it('inserts a row, then updates all of its columns except the key', async () => {
    await upsert(database, 'things', { ...createThing('a', { amount: 1, name: 'one' }) }, ['id'])
    await upsert(database, 'things', { ...createThing('b', { amount: 5 }) }, ['id'])
    await upsert(database, 'things', { ...createThing('a', { amount: 2, owner: 'ada' }) }, ['id'])
    expect(await findThings(database)).toEqual([
      createThing('a', { amount: 2, owner: 'ada' }),
      createThing('b', { amount: 5 }),
    ])
  })

  it('leaves columns unchanged that the row does not contain', async () => {
    await insertThings(database, createThing('a', { owner: 'ada', amount: 1 }))
    await upsert(database, 'things', { id: 'a', amount: 2, flagged: 1 }, ['id'])
    expect(await findThing(database, 'a')).toEqual(
      createThing('a', { owner: 'ada', amount: 2, flagged: 1 }),
    )
  })

  it('keeps the last of many concurrent rows, without an error', async () => {
    await Promise.all(
      Array.from({ length: 30 }, (_, i) =>
        upsert(database, 'things', { ...createThing('a', { amount: i }) }, ['id']),
      ),
    )
    expect(await findThings(database)).toHaveLength(1)
  })
})

describe('deleteBatch()', () => {
  const expired = (limit: number) => ({
    table: 'things',
    key: 'id',
    where: (eb: Parameters<Parameters<typeof deleteBatch>[1]['where']>[0]) =>
      eb('done_at', '<', 100),
    limit,
  })

  it('deletes at most the limit, and only rows that meet the condition', async () => {
    for (let i = 0; i < 7; i++) await insertThings(database, createThing(`old${i}`, { done_at: i }))
    const kept = [
      createThing('at', { done_at: 100 }),
      createThing('live'),
      createThing('new', { done_at: 200 }),
    ]
    await insertThings(database, ...kept)
    expect(await deleteBatch(database, expired(5))).toBe(5)
    expect(await findThings(database)).toHaveLength(5)
    expect(await deleteBatch(database, expired(5))).toBe(2)
    expect(await deleteBatch(database, expired(5))).toBe(0)
    expect(await findThings(database)).toEqual(kept)
  })

  it('can run concurrently', async () => {
    for (let i = 0; i < 40; i++)
      await insertThings(database, createThing(`old${i}`, { done_at: i }))
    const work = async () => {
      let total = 0
      for (let misses = 0; misses < 3; ) {
        const deleted = await deleteBatch(database, expired(3))
        total += deleted
        if (deleted === 0) misses++
      }
      return total
    }
    const totals = await Promise.all([work(), work(), work(), work()])
    expect(totals.reduce((a, b) => a + b)).toBe(40)
    expect(await findThings(database)).toEqual([])
  })
})
