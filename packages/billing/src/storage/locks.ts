import { randomBytes } from 'node:crypto'
import { type Database, insertIfAbsent } from '@tollgate/database'
import { Busy } from '../errors.ts'

/**
 * A named lock held across provider calls. It is a row with an expiry and not a database transaction:
 * one that waits for a provider would hold a connection, and on SQLite every writer.
 */
export interface Locks {
  /** Runs `work` alone among all processes that name this lock. */
  hold<R>(name: string, work: (lock: HeldLock) => Promise<R>): Promise<R>
}

export interface HeldLock {
  /**
   * Runs `write` in a transaction, unless the lock was lost meanwhile (the process slept through its
   * expiry): what was read under it may then be old, and must not overwrite what is newer.
   */
  write<R>(write: (tx: Database) => Promise<R>): Promise<R>
}

export interface LockTimes {
  /** How long a holder that died keeps others out, in milliseconds. */
  readonly lease: number
  /** How long to wait for the lock before giving up. */
  readonly wait: number
}

/** A lease outlasts every provider call of one operation; it is in real time, whatever the clock says. */
const DEFAULT_TIMES: LockTimes = { lease: 180_000, wait: 120_000 }

export function createLocks(database: Database, times: LockTimes = DEFAULT_TIMES): Locks {
  /** In one process the callers of a lock queue up; only the first asks the database. */
  const queues = new Map<string, Promise<unknown>>()

  async function holdInDatabase<R>(name: string, work: (lock: HeldLock) => Promise<R>): Promise<R> {
    const holder = randomBytes(16).toString('hex')
    await acquire(name, holder)
    try {
      return await work({ write: (write) => writeWhileHeld(name, holder, write) })
    } finally {
      await database.kysely
        .deleteFrom('billing_locks')
        .where('name', '=', name)
        .where('holder', '=', holder)
        .execute()
        // The work is done; an abandoned lock only makes the next one wait.
        .catch(() => undefined)
    }
  }

  async function acquire(name: string, holder: string): Promise<void> {
    const deadline = Date.now() + times.wait
    for (let pause = 10; ; pause = Math.min(pause * 2, 500)) {
      const now = Date.now()
      const row = { name, holder, expires_at: now + times.lease }
      if (await insertIfAbsent(database, 'billing_locks', row)) return
      const taken = await database.kysely
        .updateTable('billing_locks')
        .set({ holder, expires_at: row.expires_at })
        .where('name', '=', name)
        .where('expires_at', '<', now)
        .executeTakeFirst()
      if (Number(taken.numUpdatedRows) > 0) return
      if (now > deadline) throw new Busy('Another operation of this user has not finished')
      await new Promise((resolve) => setTimeout(resolve, pause * (0.5 + Math.random())))
    }
  }

  function writeWhileHeld<R>(
    name: string,
    holder: string,
    write: (tx: Database) => Promise<R>,
  ): Promise<R> {
    return database.transaction(async (tx) => {
      const held = await tx.kysely
        .updateTable('billing_locks')
        .set({ expires_at: Date.now() + times.lease })
        .where('name', '=', name)
        .where('holder', '=', holder)
        .executeTakeFirst()
      if (Number(held.numUpdatedRows) === 0) throw new Busy('The lock was lost to another process')
      return write(tx)
    })
  }

  return {
    async hold(name, work) {
      const before = queues.get(name) ?? Promise.resolve()
      const mine = before.then(() => holdInDatabase(name, work))
      const settled = mine.catch(() => undefined)
      queues.set(name, settled)
      try {
        return await mine
      } finally {
        if (queues.get(name) === settled) queues.delete(name)
      }
    },
  }
}
