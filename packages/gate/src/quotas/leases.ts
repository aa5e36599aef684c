import type { Logger } from '../context.ts'
import type { CounterKey, Counters } from './counters.ts'
import { chooseLeaseSize } from './lease-size.ts'

/** A quota of a subject: the counter, and the sum that it must not exceed. */
export interface QuotaTarget extends CounterKey {
  /** Largest sum of the counter. `null` for no limit. */
  readonly quota: number | null
}

/** Units of quotas that this process has leased, and may spend without a query to the database. */
export interface Leases {
  /**
   * Spends `amount` from the process's lease. Returns `false` if the lease does not hold enough;
   * the caller must then wait for `spend()`.
   */
  trySpend(target: QuotaTarget, amount: number): boolean
  /**
   * Spends `amount`, and leases more if needed. Returns `false` if the quota has fewer units left.
   * Rejects if the database is unavailable.
   */
  spend(target: QuotaTarget, amount: number): Promise<boolean>
  /** Spends as much of `amount` as the quota has left, and returns how much that was. */
  spendUpTo(target: QuotaTarget, amount: number): Promise<number>
  /** Gives spent units back that were not used after all, such as the rest of a reservation. */
  restore(target: QuotaTarget, amount: number): Promise<void>
  /**
   * Counts `amount` even if it exceeds the quota, for usage that has already happened. Returns the
   * counter's sum, which includes units that processes have leased.
   */
  force(target: QuotaTarget, amount: number): Promise<number>
  /** Returns the number of units that this process has leased and not spent. */
  unspent(key: CounterKey): number
  /**
   * Units of the quota that are left at least, from memory: those that no process had taken when the
   * counter was read last, and those that this process has leased. Units that others have leased and
   * not spent are not included. `null` if the counter was not read yet.
   */
  remaining(target: QuotaTarget): number | null
  /** Gives back leases that were not used for a few seconds. Called every second. */
  sweep(): Promise<void>
  /** Gives back every lease. */
  close(): Promise<void>
}

/** The lease of one counter. */
interface Lease {
  readonly key: CounterKey
  quota: number | null
  left: number
  /** Sum of the counter when it was read last, with what all processes have leased. `null` before. */
  taken: number | null
  /** Size when it was taken. */
  size: number
  /** When it was taken, by both clocks. */
  readonly takenAt: { monotonic: number; wall: number }
  lastUsed: number
  /** Units that callers are waiting for. */
  waiting: number
  /** The attempt to take more, shared by all callers that wait. */
  taking: Promise<boolean> | null
  /** Until when the counter is known to be used up, by the monotonic clock. */
  usedUpUntil: number
}

/**
 * A lease ends at the earlier of two clocks: a suspended machine stops the monotonic one, and a
 * stepped clock moves the other.
 */
const LEASE_MS = 30_000
/** Milliseconds without use after which a lease is given back. */
const IDLE_MS = 3000
/** Milliseconds for which a counter that is used up is not asked again. */
const USED_UP_MS = 1000

interface LeaseOptions {
  readonly counters: Counters
  readonly logger: Logger
  /** Number of processes that lease from counters at the moment. */
  readonly processes: () => number
}

/**
 * Keeps the leases of this process. A unit is spent only after a conditional statement has taken it
 * off the quota for this process, and a lease that is lost is never given to anybody else: the sum
 * of all processes cannot exceed the quota, whatever crashes, pauses or clocks do.
 */
export function createLeases({ counters, logger, processes }: LeaseOptions): Leases {
  const leases = new Map<string, Lease>()

  const find = (key: CounterKey) => leases.get(nameOf(key))

  function open(target: QuotaTarget): Lease {
    const found = find(target)
    if (found) return found
    const now = performance.now()
    const lease: Lease = {
      key: { subject: target.subject, meter: target.meter, window: target.window },
      quota: target.quota,
      left: 0,
      taken: null,
      size: 0,
      takenAt: { monotonic: now, wall: Date.now() },
      lastUsed: now,
      waiting: 0,
      taking: null,
      usedUpUntil: 0,
    }
    leases.set(nameOf(target), lease)
    return lease
  }

  /** Whether units of the lease may be spent under this quota, which a new plan changes. */
  function isUsable(lease: Lease, target: QuotaTarget): boolean {
    return (
      lease.quota === target.quota &&
      performance.now() - lease.takenAt.monotonic < LEASE_MS &&
      Math.abs(Date.now() - lease.takenAt.wall) < LEASE_MS
    )
  }

  /**
   * Gives back the unspent part. The lease is emptied first: if the statement fails, its outcome is
   * unknown and the units are lost, because giving them back twice would exceed the quota.
   */
  async function giveBack(lease: Lease): Promise<void> {
    const { left } = lease
    lease.left = 0
    if (left === 0) return
    try {
      await counters.giveBack(lease.key, left)
      if (lease.taken !== null) lease.taken -= left
    } catch (error) {
      logger.warn(
        `${left} units of ${lease.key.meter} of ${lease.key.subject} could not be given back, and stay counted as used`,
        error,
      )
    }
  }

  async function readTaken(lease: Lease): Promise<number> {
    lease.taken = await counters.read(lease.key)
    return lease.taken
  }

  /** Leases more units. Returns `false` if the quota has none left. */
  async function take(lease: Lease, target: QuotaTarget): Promise<boolean> {
    if (lease.left > 0 && !isUsable(lease, target)) await giveBack(lease)
    const before = lease.takenAt
    const usedUpIn =
      lease.size > 0 ? performance.now() - before.monotonic : Number.POSITIVE_INFINITY
    const wanted = Math.max(1, lease.waiting - lease.left)
    lease.quota = target.quota
    const { quota } = target
    let remaining = quota === null ? Number.MAX_SAFE_INTEGER : quota - (await readTaken(lease))
    for (;;) {
      if (remaining <= 0) break
      const size = Math.min(
        remaining,
        chooseLeaseSize({
          remaining,
          processes: processes(),
          waiting: wanted,
          previous: lease.size,
          usedUpIn,
        }),
      )
      const askedAt = { monotonic: performance.now(), wall: Date.now() }
      const taken = await counters.take(lease.key, size, quota)
      if (taken !== null) {
        lease.left += size
        lease.taken = taken
        lease.size = size
        lease.usedUpUntil = 0
        before.monotonic = askedAt.monotonic
        before.wall = askedAt.wall
        return true
      }
      // Other processes were faster. They have left less, so this ends.
      const rest = quota === null ? 0 : quota - (await readTaken(lease))
      if (rest >= remaining) continue
      remaining = rest
    }
    lease.usedUpUntil = performance.now() + USED_UP_MS
    return false
  }

  function trySpend(target: QuotaTarget, amount: number): boolean {
    const lease = find(target)
    if (!lease || lease.left < amount || !isUsable(lease, target)) return false
    lease.left -= amount
    lease.lastUsed = performance.now()
    return true
  }

  async function spend(target: QuotaTarget, amount: number): Promise<boolean> {
    if (target.quota !== null && amount > target.quota) return false
    const lease = open(target)
    lease.waiting += amount
    try {
      for (;;) {
        if (trySpend(target, amount)) return true
        const isUsedUp = lease.usedUpUntil > performance.now() && lease.quota === target.quota
        if (isUsedUp && !lease.taking) return false
        lease.taking ??= take(lease, target).finally(() => {
          lease.taking = null
        })
        if (!(await lease.taking)) return trySpend(target, amount)
      }
    } finally {
      lease.waiting -= amount
    }
  }

  /**
   * Spends part of an amount that the quota does not have as a whole: half, a quarter and so on,
   * because other processes use it at the same time.
   */
  async function spendUpTo(target: QuotaTarget, amount: number): Promise<number> {
    let spent = 0
    for (let size = amount; size >= 1; size = Math.floor(size / 2)) {
      while (amount - spent >= size && (await spend(target, size))) spent += size
    }
    return spent
  }

  return {
    trySpend,
    spend,
    spendUpTo,
    async restore(target, amount) {
      if (amount <= 0) return
      const lease = find(target)
      if (lease && isUsable(lease, target)) {
        lease.left += amount
        lease.usedUpUntil = 0
        return
      }
      await counters.giveBack(target, amount)
      if (lease && lease.taken !== null) lease.taken -= amount
    },
    async force(target, amount) {
      const sum = await counters.take(target, amount, null)
      const lease = find(target)
      if (lease) lease.taken = sum
      return sum ?? 0
    },
    unspent(key) {
      return find(key)?.left ?? 0
    },
    remaining(target) {
      const lease = find(target)
      if (!lease || lease.taken === null || target.quota === null) return null
      return Math.max(0, target.quota - lease.taken + lease.left)
    },
    async sweep() {
      const now = performance.now()
      for (const [name, lease] of leases) {
        if (lease.waiting > 0 || lease.taking || now - lease.lastUsed < IDLE_MS) continue
        leases.delete(name)
        await giveBack(lease)
      }
    },
    async close() {
      const all = [...leases.values()]
      leases.clear()
      for (const lease of all) {
        await lease.taking?.catch(() => {})
        await giveBack(lease)
      }
    },
  }
}

/** The window is part of the name, because use that began in one window may end in the next. */
const nameOf = ({ subject, meter, window }: CounterKey) =>
  `${meter} ${window.startsAt.getTime()} ${subject}`
