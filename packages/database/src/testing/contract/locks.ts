import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { readServerTime } from '../../clock/database-now.ts'
import type { Database } from '../../database.ts'
import { migrate, readMigrations } from '../../migrate.ts'
import type { ContractPart } from './part.ts'
import {
  createThing,
  findThing,
  findThings,
  insertThings,
  type TestTables,
  thingsMigration,
  withEmptyDatabase,
  withThingsTable,
} from './things.ts'

/** Checks locks across processes, and the database's clock. */
export const defineLocksContract: ContractPart = ({ describe, it }, create) => {
  describe('a lock in the database', () => {
    it('has one holder at a time, who sees what the previous holder wrote', () =>
      withThingsTable(create, async (database, other) => {
        await insertThings(database, createThing('a'))
        const step = (db: Database<TestTables>) =>
          db.exclusively('counting', async (tx) => {
            const { amount } = (await findThing(tx, 'a')) ?? createThing('a')
            await sleep(5)
            await tx.kysely
              .updateTable('things')
              .set({ amount: amount + 1 })
              .where('id', '=', 'a')
              .execute()
          })
        await Promise.all(Array.from({ length: 10 }, (_, i) => step(i % 2 ? database : other)))
        assert.equal((await findThing(database, 'a'))?.amount, 10)
      }))

    it('is released if the work fails', () =>
      withThingsTable(create, async (database, other) => {
        const fail = database.exclusively('failing', async (tx) => {
          await insertThings(tx, createThing('a'))
          throw new Error('no')
        })
        await assert.rejects(fail, /no/)
        await other.exclusively('failing', (tx) => insertThings(tx, createThing('b')))
        assert.deepEqual(await findThings(database), [createThing('b')])
      }))

    it('makes migrations run once if several processes start concurrently', () =>
      withEmptyDatabase(create, async (database, other) => {
        const seed = {
          id: '002-seed',
          up: (tx: Database) => insertThings(tx, createThing('seed')),
        }
        const set = { name: 'things', migrations: [thingsMigration, seed] }
        const runs = await Promise.all(
          [database, other, database, other].map((db) => migrate(db, set)),
        )
        assert.deepEqual(runs.flatMap(({ applied }) => applied).sort(), ['001-things', '002-seed'])
        assert.equal((await findThings(database)).length, 1)
        const done = await readMigrations(database)
        assert.deepEqual(done.get('things'), ['001-things', '002-seed'])
      }))
  })

  describe('the clock of the database', () => {
    it('shows the current time, and advances during a transaction', () =>
      withEmptyDatabase(create, async (database) => {
        const [first, second] = await database.transaction(async (tx) => {
          const before = await readServerTime(tx)
          await sleep(20)
          return [before, await readServerTime(tx)] as const
        })
        assert.ok(Math.abs(first.getTime() - Date.now()) < 86_400_000)
        assert.ok(second.getTime() > first.getTime())
      }))
  })
}
