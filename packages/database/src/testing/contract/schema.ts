import assert from 'node:assert/strict'
import { isUniqueViolation } from '../../error-kinds.ts'
import { createColumns } from '../../schema/columns.ts'
import { addColumn, createIndex, createTable, hasColumn, hasTable } from '../../schema/tables.ts'
import type { ContractPart } from './part.ts'
import { insertThings, thing, thingsMigration, withEmpty, withThings } from './things.ts'

/** What a dialect must do for tables, columns and indexes. */
export const schemaContract: ContractPart = ({ describe, it }, create) => {
  describe('the schema', () => {
    it('is made once, however often it is asked for', () =>
      withEmpty(create, async (database) => {
        const columns = createColumns(database)
        assert.equal(await hasTable(database, 'things'), false)
        assert.equal(await hasColumn(database, 'things', 'id'), false)
        await thingsMigration.up(database, columns)
        await insertThings(database, thing('a'))
        await thingsMigration.up(database, columns)
        assert.equal(await hasTable(database, 'things'), true)
        assert.equal(await hasColumn(database, 'things', 'id'), true)
        assert.equal(await hasColumn(database, 'things', 'nothing'), false)
        const { rows } = await database.statement<object>((db) =>
          db.selectFrom('things').select('id'),
        )({})
        assert.equal(rows.length, 1)
      }))

    it('gets new columns and indexes, and keeps its rows', () =>
      withThings(create, async (database) => {
        const columns = createColumns(database)
        await insertThings(database, thing('a'))
        for (let i = 0; i < 2; i++) {
          await addColumn(database, 'things', 'colour', columns.string(20).nullable())
          const index = { name: 'things_by_colour', table: 'things', columns: ['colour'] }
          await createIndex(database, { ...index, unique: true })
        }
        await assert.rejects(addColumn(database, 'things', 'size', columns.integer), TypeError)
        const paint = (id: string) => insertThings(database, { ...thing(id), ...{ colour: 'red' } })
        await paint('b')
        await assert.rejects(paint('c'), isUniqueViolation)
      }))

    it('counts up where it is told to', () =>
      withEmpty(create, async (database) => {
        const columns = createColumns(database)
        await createTable(database, 'counted', {
          columns: { number: columns.counter, word: columns.string(10) },
        })
        const insert = database.statement<{ word: string }>((db, param) =>
          db.insertInto('counted' as never).values({ word: param('word') } as never),
        )
        for (const word of ['a', 'b', 'c']) await insert({ word })
        const { rows } = await database.statement<object, { number: number; word: string }>((db) =>
          db
            .selectFrom('counted' as never)
            .selectAll()
            .orderBy('number' as never),
        )({})
        assert.deepEqual(
          rows.map(({ word }) => word),
          ['a', 'b', 'c'],
        )
        assert.ok(rows.every(({ number }) => Number.isInteger(number)))
      }))

    it('keeps words that SQL has taken as names', () =>
      withEmpty(create, async (database) => {
        const columns = createColumns(database)
        await createTable(database, 'order', {
          columns: { select: columns.id, from: columns.integer },
          primaryKey: ['select'],
        })
        assert.equal(await hasTable(database, 'order'), true)
        assert.equal(await hasColumn(database, 'order', 'from'), true)
      }))
  })
}
