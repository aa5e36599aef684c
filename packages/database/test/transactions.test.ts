import { connect, type Database, isUniqueViolation } from '@tollgate/database'
import { sql } from 'kysely'
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
let other: Database<TestTables>
beforeEach(async () => {
  test = await createThingsDatabase({ timeout: 10_000 })
  database = test.database
  other = await connect<TestTables>(test.url, { timeout: 10_000 })
})
afterEach(async () => {
  await other.close()
  await test.drop()
})

const add = (db: Database<TestTables>, id: string, amount: number) =>
  db.kysely
    .updateTable('things')
    .set((eb) => ({ amount: eb('amount', '+', amount) }))
    .where('id', '=', id)
    .execute()

describe('transaction()', () => {
  it('commits everything or nothing', async () => {
    const fail = database.transaction(async (tx) => {
      await insertThings(tx, createThing('a'), createThing('b'))
      throw new Error('no')
    })
    await expect(fail).rejects.toThrow('no')
    expect(await findThings(database)).toEqual([])
    const result = await database.transaction(async (tx) => {
      await insertThings(tx, createThing('a'), createThing('b'))
      return 'done'
    })
    expect(result).toBe('done')
    expect(await findThings(other)).toHaveLength(2)
  })

  it('sees its own changes immediately, hides them from others until it commits, and blocks no readers', async () => {
    await database.transaction(async (tx) => {
      await insertThings(tx, createThing('a'))
      expect(await findThings(tx)).toHaveLength(1)
      expect(await findThings(database)).toEqual([])
      expect(await findThings(other)).toEqual([])
    })
    expect(await findThings(database)).toHaveLength(1)
    expect(await findThings(other)).toHaveLength(1)
  })

  it('is part of the transaction in which it is nested', async () => {
    const fail = database.transaction(async (tx) => {
      await tx.transaction((inner) => insertThings(inner, createThing('a')))
      throw new Error('no')
    })
    await expect(fail).rejects.toThrow('no')
    expect(await findThings(database)).toEqual([])
  })

  it('fails completely after a failed statement, even if the error was caught', async () => {
    const swallow = database.transaction(async (tx) => {
      await insertThings(tx, createThing('a'))
      await insertThings(tx, createThing('a')).catch(() => {})
      return 'looks fine'
    })
    await expect(swallow).rejects.toSatisfy(isUniqueViolation)
    const goOn = database.transaction(async (tx) => {
      await insertThings(tx, createThing('a'), createThing('a')).catch(() => {})
      await insertThings(tx, createThing('b'))
    })
    await expect(goOn).rejects.toSatisfy(isUniqueViolation)
    expect(await findThings(database)).toEqual([])
  })

  it('rejects queries after its end', async () => {
    const leaked = await database.transaction(async (tx) => tx)
    await expect(findThings(leaked)).rejects.toThrow('has ended')
    await expect(leaked.close()).rejects.toThrow()
    expect(await findThings(database)).toEqual([])
  })

  it('loses no change of many concurrent ones on two connections', async () => {
    await insertThings(database, createThing('a'))
    const step = (db: Database<TestTables>) =>
      db.transaction(async (tx) => void (await add(tx, 'a', 1)))
    await Promise.all(Array.from({ length: 60 }, (_, i) => step(i % 2 ? database : other)))
    expect(await findThing(database, 'a')).toMatchObject({ amount: 60 })
  })

  it('runs again after a deadlock', async () => {
    await insertThings(database, createThing('a'), createThing('b'))
    let attempts = 0
    const meet = createMeeting(2)
    const cross = (db: Database<TestTables>, first: string, second: string) =>
      db.transaction(async (tx) => {
        attempts++
        await add(tx, first, 1)
        // SQLite has one writer at a time, so the two transactions never run concurrently.
        if (db.dialect.name !== 'sqlite') await meet()
        await add(tx, second, 1)
      })
    await Promise.all([cross(database, 'a', 'b'), cross(other, 'b', 'a')])
    expect((await findThings(database)).map(({ amount }) => amount)).toEqual([2, 2])
    if (database.dialect.name !== 'sqlite') expect(attempts).toBeGreaterThan(2)
  })

  it('succeeds in the end despite many conflicting updates', async () => {
    const ids = ['a', 'b', 'c', 'd']
    await insertThings(database, ...ids.map((id) => createThing(id)))
    const cross = (i: number) =>
      (i % 2 ? database : other).transaction(async (tx) => {
        const order = [...ids.slice(i % 4), ...ids.slice(0, i % 4)]
        for (const id of i % 3 ? order : order.reverse()) await add(tx, id, 1)
      })
    await Promise.all(Array.from({ length: 12 }, (_, i) => cross(i)))
    expect((await findThings(database)).map(({ amount }) => amount)).toEqual([12, 12, 12, 12])
  })

  it('returns every connection to the pool', async () => {
    const small = await connect<TestTables>(test.url, { poolSize: 2, timeout: 10_000 })
    for (let i = 0; i < 10; i++) {
      await small
        .transaction(async (tx) => {
          if (i % 3 === 0) throw new Error('no')
          if (i % 3 === 1) await sql`select nonsense`.execute(tx.kysely)
          await insertThings(tx, createThing(`${i}`))
        })
        .catch(() => {})
    }
    expect(await findThings(small)).toHaveLength(3)
    await small.close()
  })
})

describe('close() of a database', () => {
  it('waits for running work, and can be called twice', async () => {
    const mine = await connect<TestTables>(test.url)
    let closing: Promise<void> | undefined
    await mine.transaction(async (tx) => {
      await insertThings(tx, createThing('a'))
      closing = mine.close()
      await new Promise((resolve) => setTimeout(resolve, 20))
      await insertThings(tx, createThing('b'))
    })
    await closing
    await mine.close()
    expect(await findThings(database)).toHaveLength(2)
    await expect(findThings(mine)).rejects.toThrow()
  })
})

/** Blocks the first `size` callers until all of them have arrived. Later callers pass. */
function createMeeting(size: number): () => Promise<void> {
  let come = 0
  let open = () => {}
  const all = new Promise<void>((resolve) => {
    open = resolve
  })
  return () => {
    if (++come >= size) open()
    return all
  }
}
