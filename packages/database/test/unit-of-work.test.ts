import { type Database, insertTogether, withErrors } from '@tollgate/database'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { TestDatabase } from '../../../test-support/create-test-database.ts'
import {
  createThing,
  createThingsDatabase,
  findThings,
  type TestTables,
  type ThingRow,
} from './things.ts'

let test: TestDatabase
let database: Database<TestTables>
beforeEach(async () => {
  test = await createThingsDatabase({ timeout: 10_000 })
  database = test.database
})
afterEach(() => test.drop())

const add = (id: string, to: Database<TestTables> = database) =>
  to.kysely
    .insertInto('things')
    .values(createThing(id) as never)
    .execute()
const ids = async () => (await findThings(database)).map(({ id }) => id).sort()

describe('database.unitOfWork()', () => {
  it('commits every write of code that calls the database itself instead of a transaction', async () => {
    const changed = withErrors(database, (error) => error) as unknown as Database<TestTables>
    const result = await database.unitOfWork(async () => {
      await add('statement')
      await database.transaction((tx) => add('transaction', tx))
      await database.exclusively('a lock', (tx) => add('lock', tx))
      await add('changed errors', changed)
      await database.unitOfWork(() => add('inner unit'))
      return 'done'
    })
    expect(result).toBe('done')
    expect(await ids()).toEqual([
      'changed errors',
      'inner unit',
      'lock',
      'statement',
      'transaction',
    ])
  })

  it('undoes every write if the work fails', async () => {
    const columns = ['id', 'name', 'owner', 'amount', 'done_at', 'flagged']
    const insert = insertTogether<Record<keyof ThingRow, unknown>>(database, {
      table: 'things',
      columns,
      key: ['id'],
    })
    const work = database.unitOfWork(async () => {
      await add('statement')
      await database.transaction((tx) => add('transaction', tx))
      await Promise.all([insert(createThing('a')), insert(createThing('b'))])
      expect(await ids()).toEqual(['a', 'b', 'statement', 'transaction'])
      throw new Error('the last step fails')
    })
    await expect(work).rejects.toThrow('the last step fails')
    expect(await ids()).toEqual([])
  })

  it('does not include writes of other callers, which are kept even if the unit fails', async () => {
    let leave = () => {}
    const left = new Promise<void>((resolve) => {
      leave = resolve
    })
    let enter = () => {}
    const entered = new Promise<void>((resolve) => {
      enter = resolve
    })
    const unit = database.unitOfWork(async () => {
      enter()
      await left
      await add('inside')
      throw new Error('undone')
    })
    await entered
    // On SQLite this write waits for the unit, the only writer.
    const outside = add('outside')
    leave()
    await expect(unit).rejects.toThrow('undone')
    await outside
    expect(await ids()).toEqual(['outside'])
  })

  it('passes errors to the error mapping of the database that sent the statement', async () => {
    const changed = withErrors(
      database,
      (error) => new RangeError('changed', { cause: error }),
    ) as unknown as Database<TestTables>
    await add('taken')
    const work = database.unitOfWork(() => add('taken', changed))
    await expect(work).rejects.toThrow(RangeError)
  })

  it('does not include writes that its code makes after the unit has ended', async () => {
    let later: Promise<unknown> = Promise.resolve()
    await database.unitOfWork(async () => {
      await add('inside')
      later = new Promise((resolve) => setTimeout(resolve, 20)).then(() => add('later'))
    })
    await later
    expect(await ids()).toEqual(['inside', 'later'])
  })

  it('calls functions passed to afterCommit() once after the commit, and never if the unit is rolled back', async () => {
    const calls: string[] = []
    const note = (text: string) => database.afterCommit(() => void calls.push(text))
    note('outside')
    expect(calls).toEqual(['outside'])
    await database.unitOfWork(async () => {
      await add('kept')
      await database.unitOfWork(async () => note('inner'))
      await database.transaction(async (tx) => tx.afterCommit(() => void calls.push('tx')))
      expect(calls).toEqual(['outside'])
    })
    expect(calls).toEqual(['outside', 'inner', 'tx'])
    const undone = database.unitOfWork(async () => {
      note('never')
      await add('kept')
    })
    await expect(undone).rejects.toThrow()
    expect(calls).toEqual(['outside', 'inner', 'tx'])
  })
})
