import assert from 'node:assert/strict'
import { isUniqueViolation } from '../../error-kinds.ts'
import { deleteBatch, increase, insertIfAbsent, upsert } from '../../writes/portable.ts'
import type { ContractPart } from './part.ts'
import { createThing, findThing, findThings, insertThings, withThingsTable } from './things.ts'

/** Checks single writes. */
export const defineWritesContract: ContractPart = ({ describe, it }, create) => {
  describe('writes to the database', () => {
    it('report how many rows they matched', () =>
      withThingsTable(create, async (database) => {
        await insertThings(
          database,
          createThing('a'),
          createThing('b'),
          createThing('c', { amount: 5 }),
        )
        const set = database.statement<{ amount: number }>((db, param) =>
          db
            .updateTable('things')
            .set({ amount: param('amount') as never })
            .where('id', '!=', 'a'),
        )
        assert.equal((await set({ amount: 5 })).affected, 2)
        // Rows that already had the value count, too.
        assert.equal((await set({ amount: 5 })).affected, 2)
        const [{ numDeletedRows } = { numDeletedRows: 0n }] = await database.kysely
          .deleteFrom('things')
          .where('amount', '=', 5)
          .execute()
        assert.equal(numDeletedRows, 2n)
      }))

    it('report a duplicate with an error that isUniqueViolation recognizes', () =>
      withThingsTable(create, async (database) => {
        await insertThings(database, createThing('a', { name: 'same' }))
        await assert.rejects(insertThings(database, createThing('a')), isUniqueViolation)
        await assert.rejects(
          insertThings(database, createThing('b', { name: 'same' })),
          isUniqueViolation,
        )
        const missing = { ...createThing('c'), amount: null as never }
        await assert.rejects(insertThings(database, missing), (e) => !isUniqueViolation(e))
      }))

    it('insert if absent: only one of many concurrent inserts succeeds, and only duplicates are ignored', () =>
      withThingsTable(create, async (database, other) => {
        const results = await Promise.all(
          Array.from({ length: 20 }, (_, i) =>
            insertIfAbsent(i % 2 ? database : other, 'things', {
              ...createThing('a', { amount: i }),
            }),
          ),
        )
        assert.equal(results.filter(Boolean).length, 1)
        for (const wrong of [{ amount: null }, { amount: 'many' }, { id: 'x'.repeat(65) }]) {
          await assert.rejects(
            insertIfAbsent(database, 'things', { ...createThing('b'), ...wrong }),
          )
        }
        await database.transaction(async (tx) => {
          assert.equal(await insertIfAbsent(tx, 'things', { ...createThing('a') }), false)
          assert.equal(await insertIfAbsent(tx, 'things', { ...createThing('b') }), true)
        })
        assert.equal((await findThings(database)).length, 2)
      }))

    it('upsert: replaces all columns except the key', () =>
      withThingsTable(create, async (database) => {
        await upsert(database, 'things', { ...createThing('a', { amount: 1, owner: 'x' }) }, ['id'])
        await upsert(database, 'things', { id: 'a', amount: 2, flagged: 1 }, ['id'])
        await upsert(database, 'things', { ...createThing('b') }, ['id'])
        assert.deepEqual(await findThings(database), [
          createThing('a', { amount: 2, owner: 'x', flagged: 1 }),
          createThing('b'),
        ])
      }))

    it('increase: no addition of many concurrent ones is lost', () =>
      withThingsTable(create, async (database, other) => {
        const by = { key: ['id'], column: 'amount' }
        await Promise.all(
          Array.from({ length: 20 }, (_, i) =>
            increase(
              i % 2 ? database : other,
              'things',
              { ...createThing('a', { amount: 3 }) },
              by,
            ),
          ),
        )
        assert.equal((await findThing(database, 'a'))?.amount, 60)
      }))

    it('delete in batches: at most as many rows as the limit are deleted, and only matching ones', () =>
      withThingsTable(create, async (database) => {
        for (let i = 0; i < 7; i++)
          await insertThings(database, createThing(`old${i}`, { done_at: i }))
        const kept = [createThing('live'), createThing('new', { done_at: 200 })]
        await insertThings(database, ...kept)
        const batch = (limit: number) =>
          deleteBatch(database, {
            table: 'things',
            key: 'id',
            where: (eb) => eb('done_at', '<', 100),
            limit,
          })
        assert.deepEqual([await batch(5), await batch(5), await batch(5)], [5, 2, 0])
        assert.deepEqual(await findThings(database), kept)
      }))
  })
}
