import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { databaseNow } from '../clock/database-now.ts'
import type { Database } from '../database.ts'
import { hasKind, UNAVAILABLE, WaitedTooLong } from '../errors.ts'
import { insertIfAbsent } from '../writes/portable.ts'
import { createLocksTable, LOCKS } from './locks-table.ts'

/** Milliseconds that others wait for a holder that died. */
const LEASE = 15_000
const RENEW_EVERY = 3000
const LOOK_AGAIN = 200

/**
 * Runs `work` while this process holds the row of `name`, which no other process does, on any server
 * of a cluster. For work that a transaction cannot hold together, because its statements commit by
 * themselves. `check` renews, on the connection given, and throws when the row was lost: somebody else
 * may then be at the same work. In a pool of one connection nothing else renews.
 */
export async function holdLease<R>(
  database: Database,
  name: string,
  wait: number,
  work: (check: (on: Database) => Promise<void>) => Promise<R>,
): Promise<R> {
  const holder = randomUUID()
  await createLocksTable(database)
  await insertIfAbsent(database, LOCKS, { name, turns: 0, holder: null, held_until: null })
  const deadline = performance.now() + wait
  while (!(await take(database, name, holder))) {
    if (performance.now() > deadline) {
      throw new WaitedTooLong(`Waited ${wait} ms for another process that holds "${name}"`)
    }
    await sleep(LOOK_AGAIN * (0.5 + Math.random()))
  }
  const check = async (on: Database) => {
    if (await take(on, name, holder)) return
    throw new Error(
      `Another process took over "${name}", because this one was not heard of for ${LEASE} ms`,
    )
  }
  // One that fails is no harm: the next may not, and `check` tells if it was too late.
  const renewing = setInterval(() => void take(database, name, holder).catch(() => {}), RENEW_EVERY)
  try {
    return await work(check)
  } finally {
    clearInterval(renewing)
    await giveBack(database, name, holder)
  }
}

/** Takes or renews it by the database's clock; false when another one has it. */
async function take(database: Database, name: string, holder: string): Promise<boolean> {
  const now = databaseNow(database)
  const { numUpdatedRows } = await database.kysely
    .updateTable(LOCKS)
    .set({ holder, held_until: sql`${now} + ${sql.lit(LEASE)}` })
    .where('name', '=', name)
    .where((eb) =>
      eb.or([
        eb('holder', 'is', null),
        eb('holder', '=', holder),
        eb('held_until', '<', now),
        // Written by a clock that was far ahead.
        eb('held_until', '>', sql<number>`${now} + ${sql.lit(10 * LEASE)}`),
      ]),
    )
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** Should the database be away, the lease runs out by itself. */
async function giveBack(database: Database, name: string, holder: string): Promise<void> {
  try {
    await database.kysely
      .updateTable(LOCKS)
      .set({ holder: null, held_until: null })
      .where('name', '=', name)
      .where('holder', '=', holder)
      .execute()
  } catch (error) {
    if (!hasKind(error, UNAVAILABLE)) throw error
  }
}
