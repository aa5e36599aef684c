import assert from 'node:assert/strict'
import { findTogether } from '../../batching/find.ts'
import { insertTogether } from '../../batching/insert.ts'
import { prepareFinishThing, prepareInsertWhileUnfinished, prepareReplaceThing } from './claims.ts'
import type { ContractPart } from './part.ts'
import { createThing, findThings, insertThings, type ThingRow, withThingsTable } from './things.ts'

const COLUMNS = ['id', 'name', 'owner', 'amount', 'done_at', 'seen_at', 'flagged']
const ids = Array.from({ length: 60 }, (_, i) => `id${String(i).padStart(2, '0')}`)

/** Checks the batching of concurrent calls. */
export const defineBatchingContract: ContractPart = ({ describe, it }, create) => {
  describe('calls that are sent to the database together', () => {
    it('insert each row once, and report which caller inserted it', () =>
      withThingsTable(create, async (database) => {
        const insert = insertTogether<ThingRow>(database, {
          table: 'things',
          columns: COLUMNS,
          key: ['id'],
        })
        const rows = ids.map((id, i) => createThing(id, { owner: `Ünï "${id}"`, amount: i }))
        const added = await Promise.all([...rows, ...rows].map((row) => insert(row)))
        assert.equal(added.filter(Boolean).length, rows.length)
        assert.deepEqual(await findThings(database), rows)
      }))

    it('fail only for the call that cannot be executed', () =>
      withThingsTable(create, async (database) => {
        const insert = insertTogether<ThingRow>(database, {
          table: 'things',
          columns: COLUMNS,
          key: ['id'],
        })
        const wrong = createThing('x'.repeat(65))
        const results = await Promise.allSettled(
          [createThing('a'), wrong, createThing('b')].map((row) => insert(row)),
        )
        const states = results.map(({ status }) => status)
        assert.deepEqual(states, ['fulfilled', 'rejected', 'fulfilled'])
      }))

    it('return each caller its own row', () =>
      withThingsTable(create, async (database) => {
        await insertThings(database, ...ids.map((id) => createThing(id)))
        const find = findTogether<ThingRow>(database, { table: 'things', key: 'id' })
        const asked = [...ids, 'none', ...ids]
        const found = await Promise.all(asked.map((id) => find(id)))
        assert.deepEqual(
          found.map((row) => row?.id ?? 'none'),
          asked,
        )
      }))

    it('let only one caller change each row', () =>
      withThingsTable(create, async (database) => {
        await insertThings(database, ...ids.map((id) => createThing(id)))
        const finish = prepareFinishThing(database, { id: 'text', now: 'bigint' })
        const results = await Promise.all(
          [...ids, ...ids, 'none'].map((id, i) => finish({ id, now: i + 1 })),
        )
        const won = results.filter((row) => row !== null)
        assert.equal(won.length, ids.length)
        const stored = (await findThings(database)).map(({ done_at }) => done_at)
        assert.deepEqual(won.map(({ done_at }) => done_at).sort(), stored.sort())
      }))

    it('let only one caller change each row, and insert one row for that caller', () =>
      withThingsTable(create, async (database) => {
        await insertThings(database, ...ids.map((id) => createThing(id, { owner: `of ${id}` })))
        const replace = prepareReplaceThing(database, { id: 'text', now: 'bigint', next: 'text' })
        const results = await Promise.all(
          [...ids, ...ids].map((id, i) => replace({ id, next: `next${i}`, now: i + 1 })),
        )
        assert.equal(results.filter((row) => row !== null).length, ids.length)
        const rows = await findThings(database)
        const added = rows.filter(({ flagged }) => flagged === 1)
        assert.deepEqual(added.map(({ owner }) => owner).sort(), ids.map((id) => `of ${id}`).sort())
        assert.equal(rows.length, 2 * ids.length)
      }))

    it('insert any number of rows that depend on the same row', () =>
      withThingsTable(create, async (database, other) => {
        await insertThings(database, createThing('a'), createThing('done', { done_at: 1 }))
        const types = { id: 'text', next: 'text' } as const
        const rest = [
          prepareInsertWhileUnfinished(database, types),
          prepareInsertWhileUnfinished(other, types),
        ] as const
        const asked = ids.map((next, i) => ({ id: i % 3 === 0 ? 'done' : 'a', next }))
        const inserted = await Promise.all(asked.map((one, i) => rest[i % 2 ? 0 : 1](one)))
        assert.deepEqual(
          inserted,
          asked.map(({ id }) => id === 'a'),
        )
        const added = (await findThings(database)).filter(({ flagged }) => flagged === 1)
        assert.equal(added.length, inserted.filter(Boolean).length)
      }))
  })
}
