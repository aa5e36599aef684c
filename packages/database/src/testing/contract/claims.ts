import assert from 'node:assert/strict'
import { insertWhile } from '../../batching/insert-while.ts'
import type { Database } from '../../database.ts'
import type { ParamTypes } from '../../definitions.ts'
import { isUniqueViolation } from '../../error-kinds.ts'
import type { ContractPart } from './part.ts'
import {
  createThing,
  findThings,
  insertThings,
  type TestTables,
  withThingsTable,
} from './things.ts'

interface FinishParams {
  readonly id: string
  readonly now: number
}

export function prepareFinishThing(
  database: Database<TestTables>,
  together?: ParamTypes<FinishParams>,
) {
  return database.updateOneReturning<FinishParams, { amount: number; done_at: number }>({
    table: 'things',
    key: (param) => ({ id: param('id') }),
    where: (eb, param) => eb.and([eb('done_at', 'is', null), eb('amount', '<', param('now'))]),
    set: (param) => ({ done_at: param('now'), amount: 7 }),
    returning: ['amount', 'done_at'],
    ...(together ? { together } : {}),
  })
}

interface ReplaceParams extends FinishParams {
  readonly next: string
}

export function prepareReplaceThing(
  database: Database<TestTables>,
  together?: ParamTypes<ReplaceParams>,
) {
  return database.claimThenInsert<ReplaceParams, { id: string; owner: string }>({
    claim: {
      table: 'things',
      key: (param) => ({ id: param('id') }),
      where: (eb) => eb('done_at', 'is', null),
      set: (param) => ({ done_at: param('now') }),
      returning: ['id', 'owner'],
    },
    insert: {
      table: 'things',
      values: (param, claimed) => ({
        id: param('next'),
        owner: claimed('owner'),
        amount: 0,
        done_at: null,
        flagged: 1,
      }),
    },
    ...(together ? { together } : {}),
  })
}

interface InsertWhileParams {
  readonly id: string
  readonly next: string
}

/**
 * Prepares an insert that takes place only while another row is unfinished (its `done_at` is null).
 */
export function prepareInsertWhileUnfinished(
  database: Database<TestTables>,
  together?: ParamTypes<InsertWhileParams>,
) {
  return insertWhile<TestTables, InsertWhileParams>(database, {
    row: {
      table: 'things',
      key: (param) => ({ id: param('id') }),
      where: (eb) => eb('done_at', 'is', null),
    },
    insert: {
      table: 'things',
      values: (param) => ({ id: param('next'), owner: param('id'), amount: 1, flagged: 1 }),
    },
    ...(together ? { together } : {}),
  })
}

/** Checks writes that only one of many concurrent callers can win. */
export const defineRowClaimsContract: ContractPart = ({ describe, it }, create) => {
  describe('a row that one of several callers can claim', () => {
    it('is returned as it is after the change, or null if nothing was claimed', () =>
      withThingsTable(create, async (database) => {
        const finish = prepareFinishThing(database)
        const rest = [
          createThing('b'),
          createThing('done', { done_at: 1 }),
          createThing('large', { amount: 99 }),
        ]
        await insertThings(database, createThing('a', { amount: 1 }), ...rest)
        assert.deepEqual({ ...(await finish({ id: 'a', now: 50 })) }, { amount: 7, done_at: 50 })
        for (const id of ['a', 'done', 'large', 'none']) {
          assert.equal(await finish({ id, now: 50 }), null)
        }
        assert.deepEqual((await findThings(database)).slice(1), rest)
      }))

    it('is claimed by only one of many concurrent callers', () =>
      withThingsTable(create, async (database, other) => {
        const finish = [prepareFinishThing(database), prepareFinishThing(other)] as const
        await insertThings(database, createThing('a'))
        const results = await Promise.all(
          Array.from({ length: 30 }, (_, i) => finish[i % 2 ? 0 : 1]({ id: 'a', now: i + 1 })),
        )
        assert.equal(results.filter((row) => row !== null).length, 1)
      }))

    it('can be used to insert another row with its columns, only for the caller that claimed it', () =>
      withThingsTable(create, async (database) => {
        const replace = prepareReplaceThing(database)
        await insertThings(database, createThing('a', { owner: 'kept' }), createThing('taken'))
        const won = await replace({ id: 'a', next: 'b', now: 9 })
        assert.deepEqual({ ...won }, { id: 'a', owner: 'kept' })
        assert.equal(await replace({ id: 'a', next: 'c', now: 9 }), null)
        await assert.rejects(replace({ id: 'b', next: 'taken', now: 9 }), isUniqueViolation)
        assert.deepEqual(await findThings(database), [
          createThing('a', { owner: 'kept', done_at: 9 }),
          createThing('b', { owner: 'kept', flagged: 1 }),
          createThing('taken'),
        ])
      }))

    it('is claimed as part of the transaction in which the claim runs', () =>
      withThingsTable(create, async (database) => {
        const replace = prepareReplaceThing(database)
        await insertThings(database, createThing('a'))
        const fail = database.transaction(async (tx) => {
          assert.notEqual(await replace({ id: 'a', next: 'b', now: 5 }, tx), null)
          throw new Error('no')
        })
        await assert.rejects(fail, /no/)
        assert.deepEqual(await findThings(database), [createThing('a')])
      }))
  })

  describe('a row inserted on condition of another row', () => {
    it('is inserted only if the other row exists and meets the condition', () =>
      withThingsTable(create, async (database) => {
        const rest = prepareInsertWhileUnfinished(database)
        await insertThings(database, createThing('a'), createThing('done', { done_at: 1 }))
        assert.equal(await rest({ id: 'a', next: 'b' }), true)
        assert.equal(await rest({ id: 'done', next: 'c' }), false)
        assert.equal(await rest({ id: 'none', next: 'd' }), false)
        await assert.rejects(rest({ id: 'a', next: 'b' }), isUniqueViolation)
        assert.deepEqual(await findThings(database), [
          createThing('a'),
          createThing('b', { owner: 'a', amount: 1, flagged: 1 }),
          createThing('done', { done_at: 1 }),
        ])
      }))

    it('is committed before a concurrent transaction can delete the other row', () =>
      withThingsTable(create, async (database, other) => {
        const rest = prepareInsertWhileUnfinished(database)
        await insertThings(database, createThing('a'))
        const order: string[] = []
        const remove = async () => {
          await other.kysely.deleteFrom('things').where('id', '=', 'a').execute()
          order.push('deleted')
        }
        const deleted = await database.transaction(async (tx) => {
          await rest({ id: 'a', next: 'b' }, tx)
          const removing = remove()
          await new Promise((resolve) => setTimeout(resolve, 100))
          order.push('inserted')
          return { removing }
        })
        await deleted.removing
        assert.deepEqual(order, ['inserted', 'deleted'])
      }))
  })
}
