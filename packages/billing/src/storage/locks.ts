import { randomBytes } from 'node:crypto'
import { type Database, databaseNow, insertIfAbsent } from '@tollgate/database'
import { sql } from 'kysely'
import { Busy } from '../errors.ts'

/**
 * A named lock held across provider calls. It is a row with an expiry and not a database transaction:
 * one that waits for a provider would hold a connection, and on SQLite every writer.
 *
 * The expiry is short and moved on while the holder lives, so a killed one keeps nobody out for
 * long. The database's clock decides, because those of processes differ.
 */
export interface Locks {
  /** Runs `work` alone among all processes that name this lock. */
  hold<R>(name: string, work: (lock: HeldLock) => Promise<R>): Promise<R>
}

export interface HeldLock {
  /** Throws Busy when the lock was lost; asks the database only when it may have been. */
  check(): Promise<void>
  /**
   * Runs `write` in a transaction, unless the lock was lost meanwhile (the process slept through its
   * expiry): what was read under it may then be old, and must not overwrite what is newer.
   */
  write<R>(write: (tx: Database) => Promise<R>): Promise<R>
  /** Throws Busy if the lock was lost. For a transaction under two locks. */
  join(tx: Database): Promise<void>
}

export interface LockSettings {
  /** How long a holder that died keeps others out, in milliseconds. */
  readonly lease: number
  /** How long to wait for the lock before giving up. */
  readonly wait: number
  /** Called before a lock is taken; throws if the time of this process is not that of the others. */
  readonly check?: () => Promise<void> | null
}

const TABLE = 'billing_locks'
/** A released lock keeps its row: taking it again is one statement. */
const FREE = 0
const NOBODY = ''

export function createLocks(database: Database, settings: LockSettings): Locks {
  /** In one process the callers of a lock queue up; only the first asks the database. */
  const queues = new Map<string, Promise<unknown>>()

  async function holdInDatabase<R>(name: string, work: (lock: HeldLock) => Promise<R>): Promise<R> {
    await settings.check?.()
    const holder = randomBytes(16).toString('hex')
    const lease = await acquire(name, holder)
    try {
      return await work(lease)
    } finally {
      lease.release()
      await database.kysely
        .updateTable(TABLE)
        .set({ holder: NOBODY, expires_at: FREE })
        .where('name', '=', name)
        .where('holder', '=', holder)
        .execute()
        // The work is done; an abandoned lock only makes the next one wait.
        .catch(() => undefined)
    }
  }

  async function acquire(name: string, holder: string): Promise<Lease> {
    const deadline = performance.now() + settings.wait
    for (let pause = 10; ; pause = Math.min(pause * 2, 250)) {
      const asked = performance.now()
      if (await take(name, holder))
        return keepLease(database, { name, holder, asked, lease: settings.lease })
      if (asked > deadline) throw new Busy('Another operation of this user has not finished')
      await new Promise((resolve) => setTimeout(resolve, pause * (0.5 + Math.random())))
    }
  }

  async function take(name: string, holder: string): Promise<boolean> {
    const now = databaseNow(database)
    const takeExpired = () =>
      database.kysely
        .updateTable(TABLE)
        .set({ holder, expires_at: sql`${now} + ${settings.lease}` })
        .where('name', '=', name)
        .where('expires_at', '<', now)
        .executeTakeFirst()
    const isTaken = async () => Number((await takeExpired()).numUpdatedRows) > 0
    if (await isTaken()) return true
    const isNew = await insertIfAbsent(database, TABLE, { name, holder: NOBODY, expires_at: FREE })
    return isNew && isTaken()
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

interface Lease extends HeldLock {
  /** Stops moving the expiry on. */
  release(): void
}

/** Moves the expiry on, three times in each lease, for as long as this process runs. */
function keepLease(
  database: Database,
  held: {
    readonly name: string
    readonly holder: string
    /** When the lock was asked for, on this process's own clock, which never jumps. */
    readonly asked: number
    readonly lease: number
  },
): Lease {
  const { name, holder, lease } = held
  let isLost = false
  let safeUntil = held.asked + lease

  async function renew(on: Database): Promise<void> {
    const asked = performance.now()
    const { numUpdatedRows } = await on.kysely
      .updateTable(TABLE)
      .set({ expires_at: sql`${databaseNow(on)} + ${lease}` })
      .where('name', '=', name)
      .where('holder', '=', holder)
      .executeTakeFirst()
    if (Number(numUpdatedRows) === 0) isLost = true
    if (isLost) throw new Busy('The lock was lost to another process')
    safeUntil = asked + lease
  }

  // A beat that fails is made up for by the next one, by `check` or by `write`.
  const heart = setInterval(() => void renew(database).catch(() => undefined), lease / 3)
  heart.unref()

  return {
    async check() {
      if (isLost || performance.now() > safeUntil) await renew(database)
    },
    write: (write) =>
      database.transaction(async (tx) => {
        await renew(tx)
        return write(tx)
      }),
    join: renew,
    release: () => clearInterval(heart),
  }
}
