import assert from 'node:assert/strict'
import type { Database } from '../../database.ts'
import { isUnavailable, isUniqueViolation } from '../../error-kinds.ts'
import type { ContractPart } from './part.ts'
import {
  createThing,
  findThings,
  insertThings,
  type TestTables,
  withThingsTable,
} from './things.ts'

const add = (db: Database<TestTables>, id: string, amount: number) =>
  db.kysely
    .updateTable('things')
    .set((eb) => ({ amount: eb('amount', '+', amount) }))
    .where('id', '=', id)
    .execute()

/** Checks transactions and connections. */
export const defineTransactionsContract: ContractPart = ({ describe, it }, create) => {
  describe('transactions of the database', () => {
    it('are atomic, and not visible until they commit', () =>
      withThingsTable(create, async (database, other) => {
        const fail = database.transaction(async (tx) => {
          await insertThings(tx, createThing('a'), createThing('b'))
          throw new Error('no')
        })
        await assert.rejects(fail, /no/)
        assert.deepEqual(await findThings(database), [])
        await database.transaction(async (tx) => {
          await insertThings(tx, createThing('a'), createThing('b'))
          assert.equal((await findThings(tx)).length, 2)
          // Readers do not wait.
          assert.equal((await findThings(database)).length, 0)
          assert.equal((await findThings(other)).length, 0)
        })
        assert.equal((await findThings(other)).length, 2)
      }))

    it('fail as a whole after a failed statement, even if its error was caught', () =>
      withThingsTable(create, async (database) => {
        const swallow = database.transaction(async (tx) => {
          await insertThings(tx, createThing('a'))
          await insertThings(tx, createThing('a')).catch(() => {})
        })
        await assert.rejects(swallow, isUniqueViolation)
        assert.deepEqual(await findThings(database), [])
      }))

    it('lose no change, and finish, if they deadlock', () =>
      withThingsTable(create, async (database, other) => {
        const ids = ['a', 'b', 'c', 'd']
        await insertThings(database, ...ids.map((id) => createThing(id)))
        const cross = (i: number) =>
          (i % 2 ? database : other).transaction(async (tx) => {
            const order = [...ids.slice(i % 4), ...ids.slice(0, i % 4)]
            for (const id of i % 3 ? order : order.reverse()) await add(tx, id, 1)
          })
        await Promise.all(Array.from({ length: 12 }, (_, i) => cross(i)))
        const amounts = (await findThings(database)).map(({ amount }) => amount)
        assert.deepEqual(amounts, [12, 12, 12, 12])
      }))

    it('return every connection to the pool', () =>
      withThingsTable(create, async (database) => {
        for (let i = 0; i < 30; i++) {
          await database
            .transaction(async (tx) => {
              if (i % 3 === 0) throw new Error('no')
              await insertThings(tx, createThing(i % 3 === 1 ? 'same' : `${i}`))
            })
            .catch(() => {})
        }
        assert.equal((await findThings(database)).length, 11)
      }))

    it('finish if the database is closed, and later ones are rejected', () =>
      withThingsTable(create, async (database, other) => {
        let closing: Promise<void> | undefined
        await other.transaction(async (tx) => {
          await insertThings(tx, createThing('a'))
          closing = other.close()
          await insertThings(tx, createThing('b'))
        })
        await closing
        assert.equal((await findThings(database)).length, 2)
        await assert.rejects(findThings(other), isUnavailable)
      }))
  })
}
