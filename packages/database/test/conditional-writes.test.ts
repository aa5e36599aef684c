import { type Database, isUniqueViolation } from '@tollgate/database'
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

const queries: string[] = []
let test: TestDatabase
let database: Database<TestTables>
beforeEach(async () => {
  test = await createThingsDatabase({ onQuery: (text) => queries.push(text), timeout: 10_000 })
  database = test.database
  queries.length = 0
})
afterEach(() => test.drop())

function prepareFinish(db: Database<TestTables>) {
  return db.updateOneReturning<{ id: string; now: number }, { amount: number; done_at: number }>({
    table: 'things',
    key: (param) => ({ id: param('id') }),
    where: (eb, param) => eb.and([eb('done_at', 'is', null), eb('amount', '<', param('now'))]),
    set: (param) => ({ done_at: param('now'), amount: 7 }),
    returning: ['amount', 'done_at'],
  })
}

function prepareReplace(db: Database<TestTables>) {
  return db.claimThenInsert<
    { id: string; next: string; now: number; name: string | null },
    { id: string; owner: string; amount: number }
  >({
    claim: {
      table: 'things',
      key: (param) => ({ id: param('id') }),
      where: (eb) => eb('done_at', 'is', null),
      set: (param) => ({ done_at: param('now') }),
      returning: ['id', 'owner', 'amount'],
    },
    insert: {
      table: 'things',
      values: (param, claimed) => ({
        id: param('next'),
        name: param('name'),
        owner: claimed('owner'),
        amount: claimed('amount'),
        done_at: null,
        flagged: 1,
      }),
    },
  })
}

describe('updateOneReturning()', () => {
  it('returns the columns as they are after the change', async () => {
    const finish = prepareFinish(database)
    await insertThings(database, createThing('a', { amount: 1 }), createThing('b', { amount: 1 }))
    expect(await finish({ id: 'a', now: 50 })).toEqual({ amount: 7, done_at: 50 })
    expect(await findThing(database, 'b')).toEqual(createThing('b', { amount: 1 }))
  })

  it('returns null and changes nothing if the row is missing or does not meet the condition', async () => {
    const finish = prepareFinish(database)
    const before = [createThing('done', { done_at: 1 }), createThing('large', { amount: 99 })]
    await insertThings(database, ...before)
    expect(await finish({ id: 'done', now: 50 })).toBeNull()
    expect(await finish({ id: 'large', now: 50 })).toBeNull()
    expect(await finish({ id: 'none', now: 50 })).toBeNull()
    expect(await findThings(database)).toEqual(before)
  })

  it('succeeds for only one of fifty concurrent callers', async () => {
    const finish = prepareFinish(database)
    await insertThings(database, createThing('a'))
    const results = await Promise.all(
      Array.from({ length: 50 }, (_, i) => finish({ id: 'a', now: i + 1 })),
    )
    const winners = results.filter((row) => row !== null)
    expect(winners).toHaveLength(1)
    expect(await findThing(database, 'a')).toMatchObject({ done_at: winners[0]?.done_at })
  })

  it('is part of the transaction on which it is called', async () => {
    const finish = prepareFinish(database)
    await insertThings(database, createThing('a'))
    const fail = database.transaction(async (tx) => {
      expect(await finish({ id: 'a', now: 5 }, tx)).not.toBeNull()
      throw new Error('no')
    })
    await expect(fail).rejects.toThrow('no')
    expect(await finish({ id: 'a', now: 6 })).toEqual({ amount: 7, done_at: 6 })
  })
})

describe('claimThenInsert()', () => {
  it('changes one row, and inserts another with some of its columns', async () => {
    const replace = prepareReplace(database)
    await insertThings(database, createThing('a', { owner: 'ada', amount: 3 }))
    const row = await replace({ id: 'a', next: 'b', now: 9, name: 'new' })
    expect(row).toEqual({ id: 'a', owner: 'ada', amount: 3 })
    expect(await findThings(database)).toEqual([
      createThing('a', { owner: 'ada', amount: 3, done_at: 9 }),
      createThing('b', { owner: 'ada', amount: 3, name: 'new', flagged: 1 }),
    ])
  })

  it('inserts nothing if nothing was claimed', async () => {
    const replace = prepareReplace(database)
    await insertThings(database, createThing('a', { done_at: 1 }))
    expect(await replace({ id: 'a', next: 'b', now: 9, name: null })).toBeNull()
    expect(await replace({ id: 'none', next: 'b', now: 9, name: null })).toBeNull()
    expect(await findThings(database)).toEqual([createThing('a', { done_at: 1 })])
  })

  it('claims nothing if the insert fails', async () => {
    const replace = prepareReplace(database)
    await insertThings(database, createThing('a'), createThing('taken'))
    const error = await replace({ id: 'a', next: 'taken', now: 9, name: null }).catch((e) => e)
    expect(isUniqueViolation(error)).toBe(true)
    expect(await findThings(database)).toEqual([createThing('a'), createThing('taken')])
  })

  it('succeeds for only one of fifty concurrent callers on several connections', async () => {
    const replace = prepareReplace(database)
    await insertThings(database, createThing('a', { owner: 'ada' }))
    const results = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        replace({ id: 'a', next: `b${i}`, now: i + 1, name: null }),
      ),
    )
    expect(results.filter((row) => row !== null)).toHaveLength(1)
    expect(await findThings(database)).toHaveLength(2)
  })

  it('is a single statement on databases that support it', async () => {
    const replace = prepareReplace(database)
    await insertThings(database, createThing('a'))
    queries.length = 0
    await replace({ id: 'a', next: 'b', now: 9, name: null })
    const count: Record<string, number> = { postgres: 1, sqlite: 2, mysql: 3 }
    expect(queries).toHaveLength(count[database.dialect.name] ?? 0)
  })
})
