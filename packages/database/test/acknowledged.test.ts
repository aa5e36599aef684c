import { connect, type Database, isUnavailable } from '@tollgate/database'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { TestDatabase } from '../../../test-support/create-test-database.ts'
import { type Child, startChild, startChildWithSmallFiles } from './child-process.ts'
import {
  createThing,
  createThingsDatabase,
  findThing,
  findThings,
  insertThings,
  type TestTables,
} from './things.ts'

let test: TestDatabase
let database: Database<TestTables>
beforeEach(async () => {
  // Only statements that another process blocks wait this long, and they time out.
  test = await createThingsDatabase({ timeout: 1000 })
  database = test.database
  await insertThings(database, createThing('there', { name: 'taken' }))
})
afterEach(() => test.drop())

const insertReturning = (db: Database<TestTables>, id: string, rest = {}) =>
  db.kysely.insertInto('things').values(createThing(id, rest)).returning('id').execute()
const execute = (text: string) => sql.raw(text).execute(database.kysely)

/** A second process that executes orders. */
let other: Child
beforeAll(() => {
  other = startChild('obey', 'sqlite::memory:')
})
afterAll(() => other.kill())

/** Sends an order and resolves with the next `count` lines that the process prints. */
async function sendOrder(order: string, count: number): Promise<string[]> {
  const before = other.lines.length
  other.tell(order)
  await other.untilLines(before + count)
  return other.lines.slice(before)
}

/** Runs `attempt` while another process holds the write lock for longer than the timeout. */
async function whileHeld(attempt: () => Promise<unknown>): Promise<void> {
  expect(await sendOrder(`hold ${test.url}`, 1)).toEqual(['held'])
  const error = await attempt().catch((reason) => reason)
  expect(await sendOrder('free', 1)).toEqual(['freed'])
  expect(error).toSatisfy(isUnavailable)
}

/** Each leaves a failed write behind; none may have stored a row whose id begins with `lost`. */
const errors: Record<string, () => Promise<void>> = {
  'a write that was kept waiting': () =>
    whileHeld(() => insertThings(database, createThing('lost'))),
  'a write with RETURNING that was kept waiting': () =>
    whileHeld(() => insertReturning(database, 'lost')),
  'a claim that was kept waiting': () =>
    whileHeld(() =>
      database.updateOneReturning<{ id: string }, object>({
        table: 'things',
        key: (param) => ({ id: param('id') }),
        set: () => ({ name: 'lost' }),
        returning: ['id'],
      })({ id: 'there' }),
    ),
  'a transaction that was kept waiting': () =>
    whileHeld(() => database.transaction((tx) => insertReturning(tx, 'lost'))),
  'several writes at once that were kept waiting': () =>
    whileHeld(async () => {
      const all = ['lost1', 'lost2', 'lost3'].map((id) => insertReturning(database, id))
      const [first] = await Promise.allSettled(all)
      if (first?.status === 'rejected') throw first.reason
    }),
  'a duplicate': () =>
    expect(insertReturning(database, 'lost', { name: 'taken' })).rejects.toThrow(/UNIQUE/),
  'a duplicate among writes that go together': async () => {
    const duplicate = insertReturning(database, 'lost', { name: 'taken' })
    const good = insertReturning(database, 'good')
    await expect(duplicate).rejects.toThrow(/UNIQUE/)
    await good
  },
  'a value that a column refuses': () =>
    expect(insertReturning(database, 'lost', { amount: null })).rejects.toThrow(/NOT NULL/),
  'a value that cannot be stored': () =>
    expect(insertReturning(database, 'lost', { name: 'a\0b' })).rejects.toThrow(TypeError),
  'SQL that cannot be read': () =>
    expect(execute('insert into')).rejects.toThrow(/syntax|incomplete/),
  'a table that is not there': () =>
    expect(execute('insert into nowhere values (1)')).rejects.toThrow(/no such table/),
  'a transaction that ends itself': async () => {
    await execute(`create trigger stop before insert on things when new.id like 'lost%'
      begin select raise(rollback, 'stopped'); end`)
    await expect(insertReturning(database, 'lost')).rejects.toThrow('stopped')
    const both = database.transaction(async (tx) => {
      await insertThings(tx, createThing('lost before'))
      await insertReturning(tx, 'lost')
    })
    await expect(both).rejects.toThrow('stopped')
  },
  'a commit that is refused': async () => {
    await execute(`create table parts (thing text references things deferrable initially deferred)`)
    await expect(execute(`insert into parts values ('nothing')`)).rejects.toThrow(/FOREIGN KEY/)
    const both = database.transaction(async (tx) => {
      await insertThings(tx, createThing('lost'))
      await sql`insert into parts values ('nothing')`.execute(tx.kysely)
    })
    await expect(both).rejects.toThrow(/FOREIGN KEY/)
  },
  'an error of our own inside a transaction': () =>
    expect(
      database.transaction(async (tx) => {
        await insertReturning(tx, 'lost')
        throw new Error('no')
      }),
    ).rejects.toThrow('no'),
  'a full disk': async () => {
    const { rows } = await sql<{ page_count: number }>`pragma page_count`.execute(database.kysely)
    await execute(`pragma max_page_count = ${rows[0]?.page_count}`)
    const large = insertReturning(database, 'lost', { owner: 'x'.repeat(100_000) })
    await expect(large).rejects.toSatisfy(isUnavailable)
    await execute('pragma max_page_count = 1000000')
  },
  'a file that may only be read': async () => {
    const refused = database.transaction(async (tx) => {
      await insertReturning(tx, 'lost')
      await sql`pragma query_only = on`.execute(tx.kysely)
      await insertReturning(tx, 'lost too')
    })
    await expect(refused).rejects.toSatisfy(isUnavailable)
    await execute('pragma query_only = off')
  },
}

describe.runIf(process.env.TEST_DATABASE === 'sqlite')(
  'a write that was acknowledged to its caller',
  () => {
    it.each(Object.entries(errors))(
      'is visible to another process even after a failed write: %s',
      async (_, fail) => {
        await fail()
        // None repeats the failed statement, which would end it.
        await database.kysely.updateTable('things').set({ amount: 7 }).execute()
        await database.transaction((tx) => insertThings(tx, createThing('acknowledged')))
        await database.kysely
          .insertInto('things')
          .columns(['id', 'amount', 'flagged'])
          .expression((eb) =>
            eb
              .selectFrom('things')
              .select([eb.val('acknowledged too').as('id'), 'amount', 'flagged'])
              .where('id', '=', 'there'),
          )
          .execute()
        const [seen, wrote] = await sendOrder(`look ${test.url} theirs`, 2)
        expect(seen).toContain('acknowledged=0 acknowledged too=7')
        expect(seen).toContain('there=7')
        expect(seen).not.toContain('lost')
        expect(wrote).toBe('wrote')
        expect(await findThing(database, 'there')).toMatchObject({ name: 'taken' })
        expect(await findThing(database, 'theirs')).not.toBeNull()
      },
    )

    it('is not lost if the disk starts to fail, and no unacknowledged write is stored [threat P4]', async () => {
      const child = startChildWithSmallFiles('fill', test.url)
      expect(await child.ended).toBe(0)
      const acknowledged = child.lines.filter((line) => line.startsWith('filled'))
      expect(acknowledged.length).toBeGreaterThan(5)
      expect(child.lines.filter((line) => /^failed SQLITE_(IOERR|FULL)/.test(line))).toHaveLength(5)
      const there = (await findThings(database)).map(({ id }) => id)
      expect(there.sort()).toEqual([...acknowledged, 'there'].sort())
      await insertReturning(database, 'acknowledged')
    })

    it('waits for the disk without blocking the event loop', async () => {
      /** Counts the turns of the event loop during a commit. */
      async function countTurns(round: number): Promise<number> {
        let turns = 0
        let committing = false
        const count = () => {
          turns++
          if (committing) setImmediate(count)
        }
        await database.transaction(async (tx) => {
          for (let i = 0; i < 20; i++) {
            await insertThings(
              tx,
              createThing(`large${round}-${i}`, { owner: 'x'.repeat(1_000_000) }),
            )
          }
          committing = true
          setImmediate(count)
        })
        committing = false
        return turns
      }
      // On a busy machine this process may get no turn during one commit, but not during all of them.
      let most = 0
      for (let round = 0; round < 20 && most <= 10; round++) {
        most = Math.max(most, await countTurns(round))
      }
      expect(most).toBeGreaterThan(10)
    })

    it('is stored completely or not at all if its caller stops waiting during the commit', async () => {
      const hasty = await connect<TestTables>(test.url, { timeout: 1 })
      const slow = hasty.transaction(async (tx) => {
        for (let i = 0; i < 20; i++) {
          await insertThings(tx, createThing(`large${i}`, { owner: 'x'.repeat(1_000_000) }))
        }
      })
      await expect(slow).rejects.toSatisfy(isUnavailable)
      await hasty.close()
      const large = (await findThings(database)).filter(({ id }) => id.startsWith('large'))
      expect([0, 20]).toContain(large.length)
      await insertThings(database, createThing('acknowledged'))
      expect(await findThing(database, 'acknowledged')).not.toBeNull()
    })
  },
)
