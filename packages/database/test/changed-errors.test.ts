import { connect, type Database, isUniqueViolation, withErrors } from '@tollgate/database'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { TestDatabase } from '../../../test-support/create-test-database.ts'
import {
  createThing,
  createThingsDatabase,
  findThings,
  insertThings,
  type TestTables,
} from './things.ts'

class Ours extends Error {}

const ours = (error: unknown) => new Ours('It failed', { cause: error })

describe('withErrors()', () => {
  let test: TestDatabase
  let database: Database<TestTables>
  beforeEach(async () => {
    test = await createThingsDatabase()
    database = withErrors(test.database as Database<TestTables>, ours)
  })
  afterEach(() => test.drop())

  const WRITES: [string, (db: Database<TestTables>) => Promise<unknown>][] = [
    ['a query', (db) => insertThings(db, createThing('a'))],
    [
      'a statement',
      (db) => db.statement((k) => k.insertInto('things').values(createThing('a') as never))({}),
    ],
    ['a transaction', (db) => db.transaction((tx) => insertThings(tx, createThing('a')))],
    ['a lock', (db) => db.exclusively('x', (tx) => insertThings(tx, createThing('a')))],
  ]

  it.each(WRITES)('changes the error of %s, and keeps its kind', async (_name, write) => {
    await insertThings(database, createThing('a'))
    const error = await write(database).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(Ours)
    expect(error).toSatisfy(isUniqueViolation)
    await expect(write(test.database as Database<TestTables>)).rejects.not.toBeInstanceOf(Ours)
    expect(await findThings(database)).toHaveLength(1)
  })

  it('changes errors in a transaction that other code began, but none outside of it', async () => {
    await insertThings(database, createThing('a'))
    const seen: unknown[] = []
    const work = (test.database as Database<TestTables>).transaction(async (tx) => {
      await insertThings(withErrors(tx, ours), createThing('a')).catch((error) => seen.push(error))
    })
    await expect(work).rejects.not.toBeInstanceOf(Ours)
    expect(seen).toEqual([expect.any(Ours)])
  })

  it('does not change errors that the work of a transaction throws itself', async () => {
    const mine = new RangeError('Mine')
    const work = database.transaction(async () => {
      throw mine
    })
    await expect(work).rejects.toBe(mine)
  })

  it('still retries a transaction after a deadlock', async () => {
    await insertThings(database, createThing('a'), createThing('b'))
    const other = withErrors(await connect<TestTables>(test.url, { timeout: 10_000 }), ours)
    const isServer = database.dialect.name !== 'sqlite'
    let waiting = 2
    let attempts = 0
    const cross = (db: Database<TestTables>, ids: readonly string[]) =>
      db.transaction(async (tx) => {
        attempts++
        for (const id of ids) {
          await tx.kysely.updateTable('things').set({ amount: 1 }).where('id', '=', id).execute()
          // SQLite has one writer at a time, so the two transactions never run concurrently.
          waiting--
          while (isServer && waiting > 0) await new Promise((resolve) => setTimeout(resolve, 5))
        }
      })
    await Promise.all([cross(database, ['a', 'b']), cross(other, ['b', 'a'])])
    expect((await findThings(database)).map(({ amount }) => amount)).toEqual([1, 1])
    if (isServer) expect(attempts).toBeGreaterThan(2)
    await other.close()
  })
})
