import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { databaseNow } from '../clock/database-now.ts'
import type { Database } from '../database.ts'
import { hasErrorKind, UNAVAILABLE_ERROR_KINDS, WaitedTooLong } from '../errors.ts'
import { insertIfAbsent } from '../writes/portable.ts'
import { createLocksTable, LOCKS_TABLE } from './locks-table.ts'

/** Milliseconds after which a lease expires if its holder died. */
const LEASE = 15_000
const RENEW_EVERY = 3000
const RETRY_INTERVAL_MS = 200

/**
 * Runs `work` while this process holds the lease `name`, which only one process can hold at a time,
 * even if the database is a cluster of servers. Use it for work that one transaction cannot
 * contain, because its statements commit by themselves. The function `check` that `work` receives
 * renews the lease on the given connection, and throws if the lease was lost: another process may
 * then be doing the same work. With a pool of one connection, `check` is the only renewal.
 */
export async function holdLease<R>(
  database: Database,
  name: string,
  wait: number,
  work: (check: (on: Database) => Promise<void>) => Promise<R>,
): Promise<R> {
  const holder = randomUUID()
  await createLocksTable(database)
  await insertIfAbsent(database, LOCKS_TABLE, { name, turns: 0, holder: null, held_until: null })
  const deadline = performance.now() + wait
  while (!(await takeLease(database, name, holder))) {
    if (performance.now() > deadline) {
      throw new WaitedTooLong(`Waited ${wait} ms for another process that holds "${name}"`)
    }
    await sleep(RETRY_INTERVAL_MS * (0.5 + Math.random()))
  }
  const check = async (on: Database) => {
    if (await takeLease(on, name, holder)) return
    throw new Error(
      `Another process took over the lock "${name}", because this process had not renewed it for ${LEASE} ms`,
    )
  }
  // A failed renewal is ignored: the next one may succeed, and `check` detects a lost lease.
  const renewing = setInterval(
    () => void takeLease(database, name, holder).catch(() => {}),
    RENEW_EVERY,
  )
  try {
    return await work(check)
  } finally {
    clearInterval(renewing)
    await releaseLease(database, name, holder)
  }
}

/**
 * Takes or renews the lease by the database's clock. Returns `false` if another process holds it.
 */
async function takeLease(database: Database, name: string, holder: string): Promise<boolean> {
  const now = databaseNow(database)
  const { numUpdatedRows } = await database.kysely
    .updateTable(LOCKS_TABLE)
    .set({ holder, held_until: sql`${now} + ${sql.lit(LEASE)}` })
    .where('name', '=', name)
    .where((eb) =>
      eb.or([
        eb('holder', 'is', null),
        eb('holder', '=', holder),
        eb('held_until', '<', now),
        // A lease that ends this late was written by a clock that was far ahead.
        eb('held_until', '>', sql<number>`${now} + ${sql.lit(10 * LEASE)}`),
      ]),
    )
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** Releases the lease. If the database is unreachable, the lease expires by itself. */
async function releaseLease(database: Database, name: string, holder: string): Promise<void> {
  try {
    await database.kysely
      .updateTable(LOCKS_TABLE)
      .set({ holder: null, held_until: null })
      .where('name', '=', name)
      .where('holder', '=', holder)
      .execute()
  } catch (error) {
    if (!hasErrorKind(error, UNAVAILABLE_ERROR_KINDS)) throw error
  }
}
