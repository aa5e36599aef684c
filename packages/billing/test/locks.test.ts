import { type Database, databaseNow } from '@tollgate/database'
import { sql } from 'kysely'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { createTestDatabase } from '../../../test-support/create-test-database.ts'
import { type BillingLocks, createLocks } from '../src/core/storage/locks.ts'
import { Busy, createBilling } from '../src/index.ts'

/**
 * The locks of two processes on one database. Timeouts are long for slow machines; the tests never
 * wait for them.
 */
async function twoProcesses(times = { lease: 3000, wait: 60_000 }): Promise<{
  database: Database
  first: BillingLocks
  second: BillingLocks
}> {
  const { database, drop } = await createTestDatabase()
  onTestFinished(drop)
  await database.kysely.schema.createTable('users').addColumn('id', 'integer').execute()
  const stripe = { secret: 'sk_test_1', webhookSecret: 'whsec_1' }
  await createBilling({
    database,
    users: { table: 'users' },
    stripe,
    processEvery: false,
  }).migrate()
  return { database, first: createLocks(database, times), second: createLocks(database, times) }
}

/** Takes the lock as another process does that finds the lease expired. */
async function takeAway(database: Database): Promise<void> {
  await database.kysely.updateTable('billing_locks').set({ holder: 'another' }).execute()
}

async function expiryOf(database: Database): Promise<number> {
  const row = await database.kysely
    .selectFrom('billing_locks')
    .select('expires_at')
    .executeTakeFirstOrThrow()
  return Number(row.expires_at)
}

/** Reads the database's clock, which decides about expiry. */
async function nowOf(database: Database): Promise<number> {
  const { rows } = await sql<{ now: unknown }>`select ${databaseNow(database)} as now`.execute(
    database.kysely,
  )
  return Number(rows[0]?.now)
}

afterEach(() => void vi.useRealTimers())

describe('a lock in the database', () => {
  it('is held for as long as the work takes, even longer than its lease', async () => {
    const { database, first, second } = await twoProcesses()
    const order: string[] = []
    let isHeld = () => {}
    const held = new Promise<void>((resolve) => {
      isHeld = resolve
    })
    const long = first.hold('user:1', async () => {
      isHeld()
      const expiry = await expiryOf(database)
      // The other process tries to take it several times in this second.
      await expect.poll(() => nowOf(database)).toBeGreaterThan(expiry + 1000)
      order.push('first')
    })
    await held
    await second.hold('user:1', async () => {
      order.push('second')
    })
    await long
    expect(order).toEqual(['first', 'second'])
  })

  it('is free again when the lease of a killed process has expired', async () => {
    const { database, first, second } = await twoProcesses({ lease: 500, wait: 60_000 })
    await first.hold('user:1', async () => takeAway(database))
    expect(await expiryOf(database)).toBeGreaterThan(0)
    expect(await second.hold('user:1', async () => 'mine')).toBe('mine')
  })

  it('cannot be taken too early by a process whose clock is ahead', async () => {
    const { first, second } = await twoProcesses({ lease: 20_000, wait: 100 })
    vi.useFakeTimers({ toFake: ['Date'] })
    await first.hold('user:1', async () => {
      vi.setSystemTime(Date.now() + 3_600_000)
      await expect(second.hold('user:1', async () => undefined)).rejects.toThrow(Busy)
    })
  })

  it("makes its holder's writes and checks throw Busy after the lock was lost", async () => {
    const { database, first } = await twoProcesses({ lease: 600, wait: 1000 })
    await first.hold('user:1', async (lock) => {
      await lock.check()
      await takeAway(database)
      const write = lock.write((tx) =>
        tx.kysely.insertInto('users').values({ id: 7 }).executeTakeFirst(),
      )
      await expect(write).rejects.toThrow(Busy)
      await expect(lock.check()).rejects.toThrow(Busy)
    })
    expect(await database.kysely.selectFrom('users').selectAll().execute()).toEqual([])
  })

  it('is free immediately after its release, and can be taken again', async () => {
    const { first, second } = await twoProcesses({ lease: 60_000, wait: 1 })
    for (const locks of [first, second, first]) await locks.hold('user:1', async () => undefined)
    await expect(
      first.hold('user:1', async () => {
        throw new Error('out of order')
      }),
    ).rejects.toThrow('out of order')
    expect(await second.hold('user:1', async () => 'mine')).toBe('mine')
  })
})
