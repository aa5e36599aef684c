import { randomBytes } from 'node:crypto'
import { type Database, databaseNow, insertIfAbsent } from '@tollgate/database'
import { sql } from 'kysely'
import { Busy } from '../errors/errors.ts'

/**
 * Named locks that can be held during provider requests. Each lock is a row with an expiry date,
 * not a database transaction, which would occupy a connection (and on SQLite block all writers)
 * while waiting for a provider.
 *
 * The expiry is short and extended while the holder runs, so the lock of a killed process is free
 * soon. Only the database's clock counts, because the clocks of processes differ.
 */
export interface BillingLocks {
  /**
   * Runs `work` while holding the lock. Only one process at a time can hold a lock with this name.
   */
  hold<R>(name: string, work: (lock: HeldLock) => Promise<R>): Promise<R>
}

export interface HeldLock {
  /** Throws Busy if the lock was lost. Only queries the database if the lock may have expired. */
  check(): Promise<void>
  /**
   * Runs `write` in a transaction. Throws Busy if the lock was lost, for example because the
   * process was suspended past the expiry: values read earlier may be outdated then, and must not
   * overwrite newer ones.
   */
  write<R>(write: (tx: Database) => Promise<R>): Promise<R>
  /**
   * Throws Busy if the lock was lost, and otherwise extends its expiry within `tx`. For a
   * transaction that requires a second lock as well.
   */
  join(tx: Database): Promise<void>
}

export interface LockSettings {
  /** Milliseconds after which the lock of a killed process expires. */
  readonly lease: number
  /** Milliseconds to wait for a lock before throwing Busy. */
  readonly wait: number
  /**
   * Called before a lock is taken, to verify that the clock of this process agrees with the
   * database's clock. Throws if they differ too much.
   */
  readonly check?: () => Promise<void> | null
}

const TABLE = 'billing_locks'
/**
 * Expiry of a released lock. Its row is kept, so that taking the lock again is a single statement.
 */
const FREE = 0
const NO_HOLDER = ''

export function createLocks(database: Database, settings: LockSettings): BillingLocks {
  /**
   * Callers within this process wait in memory, so that only the first one queries the database.
   */
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
        .set({ holder: NO_HOLDER, expires_at: FREE })
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
      const requestedAt = performance.now()
      if (await take(name, holder))
        return keepLease(database, { name, holder, requestedAt, lease: settings.lease })
      if (requestedAt > deadline)
        throw new Busy('Another operation of this owner is still running: try again')
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
    const isNew = await insertIfAbsent(database, TABLE, {
      name,
      holder: NO_HOLDER,
      expires_at: FREE,
    })
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
  /** Stops extending the expiry. */
  release(): void
}

/** Extends the expiry three times per lease, for as long as this process runs. */
function keepLease(
  database: Database,
  held: {
    readonly name: string
    readonly holder: string
    /** When the lock was requested, on the monotonic clock of this process. */
    readonly requestedAt: number
    readonly lease: number
  },
): Lease {
  const { name, holder, lease } = held
  let isLost = false
  let safeUntil = held.requestedAt + lease

  async function renew(on: Database): Promise<void> {
    const requestedAt = performance.now()
    const { numUpdatedRows } = await on.kysely
      .updateTable(TABLE)
      .set({ expires_at: sql`${databaseNow(on)} + ${lease}` })
      .where('name', '=', name)
      .where('holder', '=', holder)
      .executeTakeFirst()
    if (Number(numUpdatedRows) === 0) isLost = true
    if (isLost) throw new Busy('The lock was lost to another process')
    safeUntil = requestedAt + lease
  }

  // A failed extension is made up for by the next one, by `check` or by `write`.
  const timer = setInterval(() => void renew(database).catch(() => undefined), lease / 3)
  timer.unref()

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
    release: () => clearInterval(timer),
  }
}
