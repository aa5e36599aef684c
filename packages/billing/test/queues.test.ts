import { connect, createColumnDefinitions, createTable, type Database } from '@tollgate/database'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  createTestDatabase,
  type TestDatabase,
} from '../../../test-support/create-test-database.ts'
import { createEventRepository, deriveEventId } from '../src/core/storage/events.ts'
import { deliveryTable, eventTable, noticeTable } from '../src/core/storage/queue-tables.ts'

let test: TestDatabase
let database: Database
beforeEach(async () => {
  const fill = async (on: Database) => {
    for (const { name, describe } of [eventTable, noticeTable, deliveryTable]) {
      await createTable(on, name, describe(createColumnDefinitions(on)))
    }
  }
  test = await createTestDatabase({ template: { name: 'queues', fill } })
  database = test.database
})
afterEach(() => test.drop())

const at = (seconds: number) => new Date(1_794_000_000_000 + seconds * 1000)
const ada = { owner: { type: 'user', id: 7 } }
const types = new Map([['user', { idType: 'integer' }]] as const)
const paid = { ...ada, type: 'invoice.paid', subject: 'stripe:in_1', payload: '{}' }

describe('a queue in the database', () => {
  const fill = async (count: number) => {
    const events = createEventRepository(database, types)
    for (let n = 0; n < count; n++) {
      await events.add({ ...paid, subject: `in_${n}` }, at(count - n), database)
    }
    return events
  }

  it('lists due entries, oldest first', async () => {
    const events = await fill(3)
    expect(await events.listDue(at(0), 10)).toEqual([])
    const due = await events.listDue(at(2), 10)
    const subjects = await Promise.all(
      due.map(async (id) => (await events.claim(id, at(2), at(60)))?.subject),
    )
    expect(subjects).toEqual(['in_2', 'in_1'])
    expect(await events.listDue(at(9), 10)).toHaveLength(1)
    expect(await events.listDue(at(60), 2)).toHaveLength(2)
  })

  it('lets one worker claim each entry, until the claim expires', async () => {
    await fill(4)
    const others = await Promise.all([1, 2, 3].map(() => connect(test.url)))
    const workers = others.map((on) => createEventRepository(on, types))
    const due = await workers[0]?.listDue(at(9), 10)
    const takeAll = async (when: Date, until: Date) => {
      const taken = await Promise.all(
        workers.flatMap((worker) => (due ?? []).map((id) => worker.claim(id, when, until))),
      )
      return taken.flatMap((event) => event?.id ?? []).sort()
    }
    expect(await takeAll(at(9), at(20))).toEqual(due?.toSorted())
    expect(await takeAll(at(19), at(30))).toEqual([])
    expect(await takeAll(at(20), at(30))).toEqual(due?.toSorted())
    await Promise.all(others.map((on) => on.close()))
  })

  it('does not change finished entries', async () => {
    const events = await fill(1)
    const [id = 0] = await events.listDue(at(9), 1)
    expect(await events.finish(id, 'done', at(10))).toBe(true)
    expect(await events.finish(id, 'done', at(11))).toBe(false)
    await events.fail(id, { error: 'too late', attempts: 9, dueAt: null })
    await events.fail(id, { error: 'too late', attempts: 9, dueAt: at(0) })
    expect(await events.retry(id, at(0))).toBe(false)
    expect(await events.list('done', 9)).toMatchObject([
      { id, attempts: 0, lastError: null, finishedAt: at(10) },
    ])
  })

  it('retries a failed entry, gives it up in the end, and makes it due again on retry()', async () => {
    const events = await fill(1)
    const [id = 0] = await events.listDue(at(9), 1)
    await events.fail(id, { error: 'no', attempts: 1, dueAt: at(50) })
    expect(await events.listDue(at(49), 1)).toEqual([])
    expect(await events.claim(id, at(50), at(60))).toMatchObject({ attempts: 1, lastError: 'no' })
    await events.fail(id, { error: 'never', attempts: 2, dueAt: null })
    expect(await events.listDue(at(999), 1)).toEqual([])
    expect(await events.list('dead', 9)).toMatchObject([{ id, attempts: 2, lastError: 'never' }])
    expect(await events.retry(id, at(70))).toBe(true)
    expect(await events.claim(id, at(70), at(80))).toMatchObject({ attempts: 0 })
  })

  it('deletes in purge() only entries that finished long enough ago', async () => {
    const events = await fill(3)
    const [first = 0, second = 0] = await events.listDue(at(9), 3)
    await events.finish(first, 'done', at(9))
    await events.fail(second, { error: 'no', attempts: 1, dueAt: null })
    expect(await events.purge('done', at(1), 10)).toBe(0)
    expect(await events.purge('done', at(2), 10)).toBe(1)
    expect(await events.list('dead', 9)).toHaveLength(1)
    expect(await events.list('pending', 9)).toHaveLength(1)
  })
})

describe('an event in the outbox', () => {
  it('is recorded once per type and subject', async () => {
    const events = createEventRepository(database, types)
    expect(await events.add(paid, at(0), database)).toBe(true)
    expect(await events.add({ ...paid, payload: '{"other":1}' }, at(1), database)).toBe(false)
    expect(await events.add({ ...paid, type: 'invoice.voided' }, at(1), database)).toBe(true)
    const found = await events.find(deriveEventId(paid))
    expect(found).toMatchObject({ ...paid, createdAt: at(0), state: 'pending' })
    expect(found?.eventId).toMatch(/^evt_[0-9a-f]{40}$/)
  })

  it('is not recorded if the transaction of the change that it describes is rolled back', async () => {
    const events = createEventRepository(database, types)
    const change = database.transaction(async (tx) => {
      await events.add(paid, at(0), tx)
      throw new Error('not done')
    })
    await expect(change).rejects.toThrow('not done')
    expect(await events.find(deriveEventId(paid))).toBeNull()
  })
})
