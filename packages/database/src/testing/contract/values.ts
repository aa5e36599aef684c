import assert from 'node:assert/strict'
import { sql } from 'kysely'
import { insertTogether } from '../../batching/insert.ts'
import { field } from '../../schema/fields.ts'
import { type Timestamp, timestamp } from '../../values.ts'
import type { ContractPart } from './part.ts'
import {
  createThing,
  findThing,
  findThings,
  insertThings,
  type ThingRow,
  withThingsTable,
} from './things.ts'

/** Pairs of texts that many databases consider equal. */
const LOOKALIKE_TEXTS = [
  ['Ada', 'ada'],
  ['space', 'space '],
  ['tab', 'tab\t'],
  ['resume', 'resumé'],
  ['é', 'e\u0301'],
  ['strasse', 'straße'],
  ['A', 'Ａ'],
  ['zero', 'ze\u200bro'],
  ['👩', '👨'],
  ['007', '7'],
  ['1e1', '10'],
  ['back\\slash', 'backslash'],
] as const

const REFUSED = [
  undefined,
  new Date(0),
  timestamp(new Date(Number.NaN)),
  timestamp(new Date(-1e14)),
  { toString: () => 'x' },
  ['x'],
  Number.NaN,
  Number.POSITIVE_INFINITY,
  Symbol('x'),
  'a\0b',
  'a\ud800',
]

/** Checks that values are stored and returned exactly. */
export const defineValuesContract: ContractPart = ({ describe, it }, create) => {
  describe('storing and reading values in the database', () => {
    it('compares text exactly, also in a unique key', () =>
      withThingsTable(create, async (database) => {
        const find = database.statement<{ name: string }, { id: string }>((db, param) =>
          db.selectFrom('things').select('id').where('name', '=', param('name')),
        )
        for (const [i, pair] of LOOKALIKE_TEXTS.entries()) {
          for (const name of pair)
            await insertThings(database, createThing(`${i}${name}`, { name }))
          for (const name of pair) {
            assert.deepEqual(
              (await find({ name })).rows.map(({ id }) => id),
              [`${i}${name}`],
            )
          }
        }
      }))

    it('returns text as it was stored', () =>
      withThingsTable(create, async (database) => {
        const notes = [
          "'; drop table things; --",
          '\\',
          "\\'",
          '"`$1?:x',
          '%_',
          '',
          'Ünï🛂',
          '\r\n',
        ]
        for (const [i, owner] of notes.entries()) {
          await insertThings(database, createThing(`${i}`, { owner }))
          assert.equal((await findThing(database, `${i}`))?.owner, owner)
        }
        const owner = 'ü'.repeat(100_000)
        await insertThings(database, createThing('long', { owner }))
        assert.equal((await findThing(database, 'long'))?.owner, owner)
      }))

    it('rejects text that is too long for its column instead of truncating it', () =>
      withThingsTable(create, async (database) => {
        await assert.rejects(insertThings(database, createThing('x'.repeat(65))))
        await assert.rejects(
          insertThings(database, createThing('long', { name: '😀'.repeat(201) })),
        )
        await insertThings(database, createThing('😀'.repeat(64), { name: '😀'.repeat(200) }))
        assert.equal((await findThings(database)).length, 1)
      }))

    it('sorts text by Unicode code points', () =>
      withThingsTable(create, async (database) => {
        await insertThings(database, ...['b', 'B', 'a', 'é', 'z'].map((id) => createThing(id)))
        const ids = (await findThings(database)).map(({ id }) => id)
        assert.deepEqual(ids, ['B', 'a', 'b', 'z', 'é'])
      }))

    it('keeps integers exact and reads them as numbers', () =>
      withThingsTable(create, async (database) => {
        const amount = Number.MAX_SAFE_INTEGER
        const rows = [
          createThing('a', { amount, done_at: 1_764_000_000_123, flagged: 1 }),
          createThing('b', { amount: -amount, done_at: -1 }),
        ]
        await insertThings(database, ...rows)
        assert.deepEqual(await findThings(database), rows)
        const { fn } = database.kysely
        const [counted] = await database.kysely
          .selectFrom('things')
          .select([fn.countAll<number>().as('count'), fn.max('amount').as('most')])
          .execute()
        assert.deepEqual({ ...counted }, { count: 2, most: amount })
      }))

    it('keeps points in time exact to the millisecond in every time zone, and compares them correctly', () =>
      withThingsTable(create, async (database) => {
        const insert = insertTogether<ThingRow>(database, {
          table: 'things',
          columns: Object.keys(createThing('a')),
          key: ['id'],
        })
        const moments = [
          0, 1, 999, 1_764_000_000_123, 1_774_749_600_500, -86_400_001, 253_402_300_799_999,
        ]
        await Promise.all(
          moments.map((at) => insert(createThing(`${at}`, { seen_at: timestamp(new Date(at)) }))),
        )
        for (const at of moments) {
          const seen_at = (await findThing(database, `${at}`))?.seen_at ?? Number.NaN
          assert.equal(field.timestamp.fromStored(seen_at).getTime(), at)
        }
        const find = database.statement<{ from: Timestamp; to: Timestamp }, { id: string }>(
          (db, param) =>
            db
              .selectFrom('things')
              .select('id')
              .where('seen_at', '>', param('from'))
              .where('seen_at', '<=', param('to'))
              .orderBy('seen_at'),
        )
        const { rows } = await find({
          from: timestamp(new Date(1)),
          to: timestamp(new Date(1_764_000_000_123)),
        })
        assert.deepEqual(
          rows.map(({ id }) => id),
          ['999', '1764000000123'],
        )
      }))

    it('rejects values that the databases would store differently', () =>
      withThingsTable(create, async (database) => {
        for (const value of REFUSED) {
          const find = database.statement<{ id: unknown }>((db, param) =>
            db
              .selectFrom('things')
              .selectAll()
              .where('id', '=', param('id') as never),
          )
          await assert.rejects(find({ id: value }), TypeError)
          const run = () => sql`select ${value} as value`.execute(database.kysely)
          await assert.rejects(run, TypeError)
        }
      }))
  })
}
