import { connect, type Database } from '@tollgate/database'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { TestDatabase } from '../../../test-support/create-test-database.ts'
import { startChild } from './child-process.ts'
import {
  createThing,
  createThingsDatabase,
  findThing,
  insertThings,
  type TestTables,
} from './things.ts'

let test: TestDatabase
let database: Database<TestTables>
beforeEach(async () => {
  test = await createThingsDatabase()
  database = test.database
  await insertThings(database, createThing('a'))
})
afterEach(() => test.drop())

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

describe('exclusively(), which lets one process at a time work,', () => {
  it('lets one caller work at a time, even for longer than the statement timeout', async () => {
    const hasty = await connect(test.url, { timeout: 200 })
    let inside = 0
    let most = 0
    const work = (db: Database) =>
      db.exclusively('work', async () => {
        most = Math.max(most, ++inside)
        await pause(150)
        inside--
      })
    await Promise.all([work(database), work(hasty), work(hasty), work(database), work(hasty)])
    expect(most).toBe(1)
    await hasty.close()
  })

  it('runs its work in one transaction', async () => {
    const fail = database.exclusively('work', async (tx) => {
      await insertThings(tx, createThing('b'))
      throw new Error('no')
    })
    await expect(fail).rejects.toThrow('no')
    expect(await findThing(database, 'b')).toBeNull()
  })

  it('can be nested in a transaction and in another exclusively()', async () => {
    await database.transaction((tx) =>
      tx.exclusively('outer', (outer) =>
        outer.exclusively('inner', (inner) => insertThings(inner, createThing('b'))),
      ),
    )
    await database.exclusively('inner', async (tx) => {
      await tx.exclusively('inner', async () => {})
    })
    expect(await findThing(database, 'b')).not.toBeNull()
  })

  it('restores the settings of the connections it used', async () => {
    const small = await connect<TestTables>(test.url, { poolSize: 1 })
    for (let i = 0; i < 3; i++) {
      await small.exclusively('x', async () => {})
      await small.exclusively('x', () => Promise.reject(new Error('no'))).catch(() => {})
      await small.transaction((tx) => insertThings(tx, createThing(`b${i}`)))
    }
    expect(await findThing(small, 'b2')).not.toBeNull()
    await small.close()
  })

  it('makes three concurrent processes count correctly', async () => {
    const children = [1, 2, 3].map(() => startChild('increment', test.url, 'a', '25'))
    expect(await Promise.all(children.map(({ ended }) => ended))).toEqual([0, 0, 0])
    expect(await findThing(database, 'a')).toMatchObject({ amount: 75 })
  })

  it('releases the lock and rolls back if its holder is killed', async () => {
    const child = startChild('holdForever', test.url)
    await child.untilLines(1)
    child.kill()
    await child.ended
    await database.exclusively('held', async (tx) => {
      expect(await findThing(tx, 'a')).toMatchObject({ amount: 0 })
    })
  })
})
