import {
  connect,
  type Database,
  findTogether,
  insertTogether,
  insertWhile,
} from '@tollgate/database'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { TestDatabase } from '../../../test-support/create-test-database.ts'
import {
  createThing,
  createThingsDatabase,
  findThing,
  findThings,
  type TestTables,
  type ThingRow,
} from './things.ts'

const queries: string[] = []
let test: TestDatabase
let database: Database<TestTables>
beforeEach(async () => {
  test = await createThingsDatabase({ timeout: 10_000, onQuery: (text) => queries.push(text) })
  database = test.database
  queries.length = 0
})
afterEach(() => test.drop())

const pause = (milliseconds: number) => new Promise((done) => setTimeout(done, milliseconds))

const columns = ['id', 'name', 'owner', 'amount', 'done_at', 'flagged']
const prepareInsert = () =>
  insertTogether<Record<keyof ThingRow, unknown>>(database, {
    table: 'things',
    columns,
    key: ['id'],
  })

describe('insertTogether(), which inserts rows of several callers in one statement,', () => {
  it('stores each row once, however many arrive at the same time', async () => {
    const insert = prepareInsert()
    const ids = Array.from({ length: 300 }, (_, index) => `t${index % 250}`)
    const added = await Promise.all(ids.map((id) => insert(createThing(id))))
    expect(added.filter(Boolean)).toHaveLength(250)
    expect(await findThings(database)).toHaveLength(250)
    expect(await insert(createThing('t0'))).toBe(false)
    expect(await insert(createThing('new'))).toBe(true)
  })

  it('stores every value exactly', async () => {
    const insert = prepareInsert()
    const rows = [
      createThing('plain'),
      createThing('text', { name: '"\'\\\n\t\u0001 {}[],:', owner: 'Zoë 漢字 🎟️' }),
      createThing('empty', { name: '', owner: 'null' }),
      createThing('number', { amount: -2_147_483_648, done_at: 8_640_000_000_000_000 }),
    ]
    await Promise.all(rows.map((row) => insert(row)))
    for (const row of rows) expect(await findThing(database, row.id)).toEqual(row)
    await Promise.all([
      insert({ ...createThing('yes'), flagged: true }),
      insert(createThing('other')),
    ])
    expect(await findThing(database, 'yes')).toEqual(createThing('yes', { flagged: 1 }))
  })

  it.each([
    ['a missing value', { id: null }],
    ['text for a number', { amount: 'many' }],
    ['text with a NUL', { owner: 'a\0b' }],
    ['a Date', { owner: new Date(0) }],
  ])('rejects a row that cannot be stored, and inserts the others: %s', async (_, wrong) => {
    const insert = prepareInsert()
    const rows = [createThing('a'), { ...createThing('bad'), ...wrong }, createThing('b')]
    const outcomes = await Promise.allSettled(rows.map((row) => insert(row)))
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect((await findThings(database)).map(({ id }) => id)).toEqual(['a', 'b'])
  })

  it('sends fewer statements, or makes fewer commits, on dialects that support it', async () => {
    const insert = prepareInsert()
    await insert(createThing('first'))
    queries.length = 0
    await Promise.all(Array.from({ length: 100 }, (_, index) => insert(createThing(`t${index}`))))
    expect(queries).toHaveLength(database.dialect.name === 'postgres' ? 1 : 100)
  })
})

describe('findTogether(), which reads rows for several callers in one statement,', () => {
  it('returns to each caller its own row, or null', async () => {
    const insert = prepareInsert()
    const rows = Array.from({ length: 20 }, (_, index) =>
      createThing(`t${index}`, { amount: index }),
    )
    await Promise.all(rows.map((row) => insert(row)))
    const find = findTogether<ThingRow>(database, { table: 'things', key: 'id' })
    expect(await find('t3')).toEqual(createThing('t3', { amount: 3 }))
    expect(await find('none')).toBeNull()
    queries.length = 0
    const asked = [...rows.map(({ id }) => id), 't3', 'none', '', `"'\\{},`]
    const found = await Promise.all(asked.map((id) => find(id)))
    expect(found).toEqual([...rows, createThing('t3', { amount: 3 }), null, null, null])
    expect(queries).toHaveLength(database.dialect.name === 'postgres' ? 1 : asked.length)
  })

  it('rejects a key that is not a string, and finds the other keys', async () => {
    await prepareInsert()(createThing('a'))
    const find = findTogether<ThingRow>(database, { table: 'things', key: 'id' })
    const outcomes = await Promise.allSettled(['a', 'a\0', 'a'].map((id) => find(id)))
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  })
})

interface Step {
  readonly id: string
  readonly from: number
  readonly to: number
}

function prepareStep(on: Database<TestTables> = database) {
  return on.updateOneReturning<Step, { id: string; amount: number }>({
    table: 'things',
    key: (param) => ({ id: param('id') }),
    where: (eb, param) => eb('amount', '=', param('from')),
    set: (param) => ({ amount: param('to') }),
    returning: ['id', 'amount'],
    together: { id: 'text', from: 'bigint', to: 'bigint' },
  })
}

describe('a statement that many callers share', () => {
  it('uses the index soon after its table has grown', async ({ skip }) => {
    skip(database.dialect.name !== 'postgres', 'only Postgres has such statements')
    const one = await connect(test.url, { poolSize: 1, timeout: 20_000 })
    const find = findTogether(one, { table: 'things', key: 'id' })
    const findTwo = async () => {
      expect(await Promise.all([find('t1'), find('nobody')])).toEqual([createThing('t1'), null])
    }
    const countWholeReads = async () => {
      const { rows } = await sql<{ count: number }>`
        select seq_scan as count, pg_stat_force_next_flush() from pg_stat_user_tables
        where relname = 'things'`.execute(one.kysely)
      await pause(50)
      return Number(rows[0]?.count)
    }
    await prepareInsert()(createThing('t1'))
    for (let round = 0; round < 10; round += 1) await findTwo()
    await sql`insert into things (id, amount, flagged)
      select 'n' || n, 0, 0 from generate_series(1, 50000) as n`.execute(one.kysely)
    await pause(1100)
    await findTwo()
    await countWholeReads()
    const before = await countWholeReads()
    for (let round = 0; round < 5; round += 1) await findTwo()
    await countWholeReads()
    expect(await countWholeReads()).toBe(before)
    await one.close()
  })
})

describe('updateOneReturning() with concurrent callers', () => {
  beforeEach(async () => {
    const insert = prepareInsert()
    await Promise.all(Array.from({ length: 50 }, (_, index) => insert(createThing(`t${index}`))))
    queries.length = 0
  })

  it('returns to each caller its own row', async () => {
    const step = prepareStep()
    const steps = Array.from({ length: 50 }, (_, index) => ({
      id: `t${index}`,
      from: 0,
      to: index,
    }))
    const rows = await Promise.all(steps.map((asked) => step(asked)))
    expect(rows).toEqual(steps.map(({ id, to }) => ({ id, amount: to })))
  })

  it('lets one caller change each row, and only a caller who meets the condition', async () => {
    const step = prepareStep()
    const asked = Array.from({ length: 200 }, (_, index) => ({
      id: `t${index % 10}`,
      from: index % 3 === 0 ? 0 : 99,
      to: index + 1,
    }))
    const rows = await Promise.all(asked.map((one) => step(one)))
    const won = asked.filter((_, index) => rows[index] !== null)
    expect(won.map(({ id }) => id).sort()).toEqual(
      Array.from({ length: 10 }, (_, index) => `t${index}`),
    )
    expect(won.every(({ from }) => from === 0)).toBe(true)
    for (const { id, to } of won) expect((await findThing(database, id))?.amount).toBe(to)
  })

  it('returns null for rows that do not exist', async () => {
    const step = prepareStep()
    const rows = await Promise.all(['t1', 'none', 't2'].map((id) => step({ id, from: 0, to: 5 })))
    expect(rows).toEqual([{ id: 't1', amount: 5 }, null, { id: 't2', amount: 5 }])
  })

  it('is part of the transaction in which it is called', async () => {
    const step = prepareStep()
    const undone = database.transaction(async (tx) => {
      await Promise.all(['t1', 't2'].map((id) => step({ id, from: 0, to: 5 }, tx as Database)))
      throw new Error('undo')
    })
    await expect(undone).rejects.toThrow('undo')
    expect((await findThing(database, 't1'))?.amount).toBe(0)
  })

  it("does not make a caller wait because another caller's row is locked", async ({ skip }) => {
    if (database.dialect.name !== 'postgres') skip('there is one writer, or each goes alone')
    const step = prepareStep()
    const held = database.transaction(async (tx) => {
      await tx.kysely.updateTable('things').set({ owner: 'x' }).where('id', '=', 't1').execute()
      const ids = ['t1', 't2', 't3']
      const [first, ...others] = ids.map((id) => step({ id, from: 0, to: 5 }))
      expect(await Promise.all(others)).toEqual([
        { id: 't2', amount: 5 },
        { id: 't3', amount: 5 },
      ])
      return { first }
    })
    const { first } = await held
    expect(await first).toEqual({ id: 't1', amount: 5 })
  })

  it('completes if two connections update the same rows in different orders', async () => {
    const second = await connect(test.url, { timeout: 10_000 })
    try {
      const [here, there] = [prepareStep(), prepareStep(second)]
      const ids = Array.from({ length: 50 }, (_, index) => `t${index}`)
      const forward = ids.map((id) => here({ id, from: 0, to: 1 }))
      const backward = ids.reverse().map((id) => there({ id, from: 0, to: 2 }))
      const rows = await Promise.all([...forward, ...backward])
      expect(rows.filter((row) => row !== null)).toHaveLength(50)
    } finally {
      await second.close()
    }
  })

  it('sends fewer statements for several callers on dialects that support it', async () => {
    const step = prepareStep()
    await Promise.all(
      Array.from({ length: 50 }, (_, index) => step({ id: `t${index}`, from: 0, to: 1 })),
    )
    if (database.dialect.name === 'postgres') expect(queries).toHaveLength(1)
    else expect(queries.length).toBeGreaterThanOrEqual(50)
  })
})

interface Succession {
  readonly id: string
  readonly next: string
  readonly owner: string | null
  readonly now: number
}

describe('claimThenInsert() with concurrent callers', () => {
  function prepareReplace(on: Database<TestTables> = database) {
    return on.claimThenInsert<Succession, { id: string; amount: number }>({
      claim: {
        table: 'things',
        key: (param) => ({ id: param('id') }),
        where: (eb) => eb('done_at', 'is', null),
        set: (param) => ({ done_at: param('now') }),
        returning: ['id', 'amount'],
      },
      insert: {
        table: 'things',
        values: (param, claimed) => ({
          id: param('next'),
          name: null,
          owner: param('owner'),
          amount: claimed('amount'),
          done_at: null,
          flagged: 1,
        }),
      },
      together: { id: 'text', next: 'text', owner: 'text', now: 'bigint' },
    })
  }

  beforeEach(async () => {
    const insert = prepareInsert()
    const rows = Array.from({ length: 20 }, (_, index) =>
      createThing(`t${index}`, { amount: index }),
    )
    await Promise.all(rows.map((row) => insert(row)))
    queries.length = 0
  })

  it('inserts one row for each caller that claimed a row, and none for the others', async () => {
    const replace = prepareReplace()
    const asked = Array.from({ length: 60 }, (_, index) => ({
      id: `t${index % 25}`,
      next: `n${index}`,
      owner: index % 2 === 0 ? null : `owner ${index}`,
      now: index + 1,
    }))
    const rows = await Promise.all(asked.map((one) => replace(one)))
    const won = asked.filter((_, index) => rows[index] !== null)
    expect(won).toHaveLength(20)
    for (const { id, next, owner, now } of won) {
      const amount = Number(id.slice(1))
      expect(await findThing(database, id)).toEqual(createThing(id, { amount, done_at: now }))
      expect(await findThing(database, next)).toEqual(
        createThing(next, { amount, owner, flagged: 1 }),
      )
    }
    expect(await findThings(database)).toHaveLength(40)
  })

  it('undoes a claim whose insert fails, and no other claim', async () => {
    const replace = prepareReplace()
    const asked = ['n1', 't5', 'n2'].map((next, index) => ({
      id: `t${index}`,
      next,
      owner: null,
      now: 9,
    }))
    const outcomes = await Promise.allSettled(asked.map((one) => replace(one)))
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect((await findThing(database, 't1'))?.done_at).toBeNull()
    expect((await findThing(database, 't2'))?.done_at).toBe(9)
  })

  it('lets one caller claim each row if two connections want the same rows', async () => {
    const second = await connect(test.url, { timeout: 10_000 })
    try {
      const [here, there] = [prepareReplace(), prepareReplace(second)]
      const ids = Array.from({ length: 20 }, (_, index) => `t${index}`)
      const first = ids.map((id) => here({ id, next: `here ${id}`, owner: null, now: 1 }))
      const other = ids
        .reverse()
        .map((id) => there({ id, next: `there ${id}`, owner: null, now: 2 }))
      const rows = await Promise.all([...first, ...other])
      expect(rows.filter((row) => row !== null)).toHaveLength(20)
      expect(await findThings(database)).toHaveLength(40)
    } finally {
      await second.close()
    }
  })

  it('sends fewer statements for several callers on dialects that support it', async () => {
    const replace = prepareReplace()
    const ids = Array.from({ length: 20 }, (_, index) => `t${index}`)
    await Promise.all(ids.map((id) => replace({ id, next: `n${id}`, owner: null, now: 1 })))
    if (database.dialect.name === 'postgres') expect(queries).toHaveLength(1)
    else expect(queries.length).toBeGreaterThanOrEqual(40)
  })
})

describe('insertWhile() with concurrent callers', () => {
  function prepareInsertWhileUnfinished(on: Database<TestTables> = database) {
    return insertWhile<TestTables, { id: string; next: string }>(on, {
      row: {
        table: 'things',
        key: (param) => ({ id: param('id') }),
        where: (eb) => eb('done_at', 'is', null),
      },
      insert: {
        table: 'things',
        values: (param) => ({ id: param('next'), amount: 1, flagged: 1 }),
      },
      together: { id: 'text', next: 'text' },
    })
  }

  beforeEach(async () => {
    await prepareInsert()(createThing('a'))
    queries.length = 0
  })

  it('does not block callers that depend on the same row', async ({ skip }) => {
    if (database.dialect.name === 'sqlite') skip('there is one writer')
    const rest = prepareInsertWhileUnfinished()
    await database.transaction(async (tx) => {
      expect(await rest({ id: 'a', next: 'within' }, tx as Database)).toBe(true)
      const meanwhile = Array.from({ length: 20 }, (_, index) =>
        rest({ id: 'a', next: `${index}` }),
      )
      expect(await Promise.all(meanwhile)).toEqual(meanwhile.map(() => true))
    })
    expect(await findThings(database)).toHaveLength(22)
  })

  it('rejects only the call that cannot be executed', async () => {
    const rest = prepareInsertWhileUnfinished()
    const nexts = ['n1', 'a', 'n2']
    const outcomes = await Promise.allSettled(nexts.map((next) => rest({ id: 'a', next })))
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  })

  it('sends fewer statements for several callers on dialects that support it', async () => {
    const rest = prepareInsertWhileUnfinished()
    await Promise.all(Array.from({ length: 20 }, (_, index) => rest({ id: 'a', next: `${index}` })))
    expect(queries).toHaveLength(database.dialect.name === 'postgres' ? 1 : 20)
  })
})
