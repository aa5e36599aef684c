import assert from 'node:assert/strict'
import { sql } from 'kysely'
import type { Database } from '../../database.ts'
import { isUniqueViolation } from '../../error-kinds.ts'
import { NotPrimary } from '../../errors.ts'
import { createColumnDefinitions } from '../../schema/columns.ts'
import { field } from '../../schema/fields.ts'
import {
  addColumn,
  createIndex,
  createTable,
  dropNotNull,
  hasColumn,
  hasTable,
} from '../../schema/tables.ts'
import { holdsMilliseconds, toTimestamps } from '../../schema/timestamps.ts'
import { isReplica, requirePrimary, selectNotPrimaryReason } from '../../statements/primary.ts'
import { timestamp } from '../../values.ts'
import type { ContractPart } from './part.ts'
import {
  createThing,
  insertThings,
  thingsMigration,
  withEmptyDatabase,
  withThingsTable,
} from './things.ts'

/**
 * In order: before 1970, 1970, an ordinary day, the morning when summer time begins, after 2038,
 * the latest moment.
 */
const MOMENTS = [
  -86_400_001, 0, 1, 1_764_000_000_123, 1_774_749_600_500, 2_147_483_648_001, 253_402_300_799_999,
]

/** Checks tables, columns and indexes. */
export const defineSchemaContract: ContractPart = ({ describe, it }, create) => {
  describe('the schema of a database', () => {
    it('is created once, however often it is requested', () =>
      withEmptyDatabase(create, async (database) => {
        const columns = createColumnDefinitions(database)
        assert.equal(await hasTable(database, 'things'), false)
        assert.equal(await hasColumn(database, 'things', 'id'), false)
        await thingsMigration.up(database, columns)
        await insertThings(database, createThing('a'))
        await thingsMigration.up(database, columns)
        assert.equal(await hasTable(database, 'things'), true)
        assert.equal(await hasColumn(database, 'things', 'id'), true)
        assert.equal(await hasColumn(database, 'things', 'nothing'), false)
        const { rows } = await database.statement<object>((db) =>
          db.selectFrom('things').select('id'),
        )({})
        assert.equal(rows.length, 1)
      }))

    it('can get new columns and indexes, and keeps its rows', () =>
      withThingsTable(create, async (database) => {
        const columns = createColumnDefinitions(database)
        await insertThings(database, createThing('a'))
        for (let i = 0; i < 2; i++) {
          await addColumn(database, 'things', 'colour', columns.string(20).nullable())
          const index = { name: 'things_by_colour', table: 'things', columns: ['colour'] }
          await createIndex(database, { ...index, unique: true })
        }
        await assert.rejects(addColumn(database, 'things', 'size', columns.integer), TypeError)
        const paint = (id: string) =>
          insertThings(database, { ...createThing(id), ...{ colour: 'red' } })
        await paint('b')
        await assert.rejects(paint('c'), isUniqueViolation)
      }))

    it('reports an ordinary database server as the primary', () =>
      withThingsTable(create, async (database) => {
        const query = sql<{
          reason: string | null
        }>`select ${selectNotPrimaryReason(database, 'things')} as reason`
        const { rows } = await query.execute(database.kysely)
        assert.equal(rows[0]?.reason, null)
        requirePrimary(database, rows[0]?.reason)
        assert.notEqual(await isReplica(database), true)
        // Replaces connections that are no longer trusted.
        assert.throws(() => requirePrimary(database, 'is a standby'), NotPrimary)
        await insertThings(database, createThing('a'))
        await database.transaction((tx) => insertThings(tx, createThing('b')))
      }))

    it('allows a column to be nullable later, and keeps rows, types and indexes', () =>
      withEmptyDatabase(create, async (database) => {
        const columns = createColumnDefinitions(database)
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

    it('makes a column nullable, and keeps rows, types and indexes', () =>
      withEmptyDatabase(create, async (database) => {
        const columns = createColumnDefinitions(database)
        const plain = database as Database
        await createTable(plain, 'visits', {
          columns: { id: columns.counter, place: columns.string(5), guest: columns.string(5) },
          unique: { visits_once: ['place', 'guest'] },
        })
        const insert = (place: string | null, guest: string | null) =>
          plain.kysely.insertInto('visits').values({ place, guest }).execute()
        await insert('x', 'ada')
        await assert.rejects(insert(null, 'bob'))
        for (let i = 0; i < 2; i++) await dropNotNull(plain, 'visits', 'place')
        for (let i = 0; i < 2; i++) await insert(null, 'bob')
        await assert.rejects(insert('x', 'ada'), isUniqueViolation)
        await insert('X', 'ada')
        await assert.rejects(insert('x', null))
        await assert.rejects(insert('longer', 'ada'))
        await assert.rejects(dropNotNull(plain, 'visits', 'id'))
        await assert.rejects(dropNotNull(plain, 'visits', 'nothing'))
        const rows = await plain.kysely.selectFrom('visits').selectAll().orderBy('id').execute()
        assert.deepEqual(
          rows.map(({ place, guest }) => [place, guest]),
          [
            ['x', 'ada'],
            [null, 'bob'],
            [null, 'bob'],
            ['X', 'ada'],
          ],
        )
      }))

    it('converts columns of milliseconds to timestamps, and keeps moments, indexes and nulls', () =>
      withEmptyDatabase(create, async (database) => {
        const columns = createColumnDefinitions(database)
        const plain = database as Database
        await createTable(plain, 'visits', {
          columns: {
            id: columns.integer,
            place: columns.id,
            began_at: columns.instant,
            ended_at: columns.instant.nullable(),
          },
          primaryKey: ['id'],
          unique: { visits_once: ['place', 'began_at'] },
          indexes: { visits_by_end: ['ended_at'] },
        })
        const timestamps = { began_at: columns.timestamp, ended_at: columns.timestamp.nullable() }
        const insert = (row: object) =>
          plain.kysely.insertInto('visits').values(row).execute().then(Boolean)
        assert.equal(await holdsMilliseconds(plain, 'visits', Object.keys(timestamps)), false)
        for (const [id, at] of MOMENTS.entries()) {
          await insert({ id, place: 'x', began_at: at, ended_at: id % 2 ? at : null })
        }
        const isChanged = database.dialect.schema.timestamps !== null
        assert.equal(await holdsMilliseconds(plain, 'visits', Object.keys(timestamps)), isChanged)
        for (let i = 0; i < 2; i++) await toTimestamps(plain, 'visits', timestamps)
        assert.equal(await holdsMilliseconds(plain, 'visits', Object.keys(timestamps)), false)

        const read = field.timestamp.nullable().fromStored
        const rows = await plain.kysely
          .selectFrom('visits')
          .selectAll()
          .orderBy('began_at')
          .execute()
        assert.deepEqual(
          rows.map(({ id, began_at, ended_at }) => [
            id,
            read(began_at)?.getTime(),
            read(ended_at)?.getTime() ?? null,
          ]),
          MOMENTS.map((at, id) => [id, at, id % 2 ? at : null]),
        )
        const began_at = timestamp(new Date(MOMENTS[1] ?? 0))
        const again = { id: 99, place: 'x', began_at, ended_at: null }
        await assert.rejects(insert(again), isUniqueViolation)
        await assert.rejects(insert({ id: 99, place: 'y', began_at: null }))
        assert.equal(await insert({ ...again, place: 'y' }), true)
        if (isChanged) {
          await assert.rejects(
            toTimestamps(plain, 'visits', { place: columns.timestamp }),
            TypeError,
          )
        }
      }))

    it('accepts reserved words of SQL as names', () =>
      withEmptyDatabase(create, async (database) => {
        const columns = createColumnDefinitions(database)
        await createTable(database, 'order', {
          columns: { select: columns.id, from: columns.integer },
          primaryKey: ['select'],
        })
        assert.equal(await hasTable(database, 'order'), true)
        assert.equal(await hasColumn(database, 'order', 'from'), true)
      }))
  })
}
