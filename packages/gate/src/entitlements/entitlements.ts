import type { Clock } from '../context.ts'
import type { PlanTerms } from '../plans/plan.ts'
import type { BillingPeriod } from '../plans/window.ts'
import type { Subject } from '../subject.ts'
import type { Follower } from './follow.ts'

/** The plan of a subject, with the terms of the plan. */
export interface Entitlement {
  /** Name of the plan. */
  readonly plan: string
  readonly terms: PlanTerms
  /** Billing period of the subscription. `null` without a subscription. */
  readonly period: BillingPeriod | null
  /**
   * When the plan may change without an event, such as the end of a trial. `null` if it does not
   * change by itself.
   */
  readonly until: Date | null
}

/** Finds the plans of subjects, and keeps them in memory until they may have changed. */
export interface Entitlements {
  /**
   * Returns the plan of a subject. Returns it directly instead of a promise if the plan in memory
   * is current.
   * @throws GateUnavailable if the database is unavailable
   */
  of(key: string, subject: Subject): Entitlement | Promise<Entitlement>
  /**
   * Returns the plan in memory even if it is not current, for use while the database is
   * unavailable. `null` if none is in memory, or if its time `until` has passed.
   */
  lastKnown(key: string): Entitlement | null
  /** Removes the plan of a subject from memory, so that the next use determines it again. */
  forget(key: string): void
  forgetAll(): void
}

interface Known {
  readonly entitlement: Entitlement
  readonly loadedAt: number
}

/** Largest number of subjects to remember. */
const MAX_SUBJECTS = 100_000
/** Longest time for which a plan is kept without being read again, in milliseconds. */
const MAX_AGE = 60_000

interface EntitlementOptions {
  readonly follower: Pick<Follower, 'isFresh' | 'sync'>
  readonly clock: Clock
  load(key: string, subject: Subject): Promise<Entitlement>
}

export function createEntitlements({ follower, clock, load }: EntitlementOptions): Entitlements {
  let young = new Map<string, Known>()
  let old = new Map<string, Known>()
  const loading = new Map<string, Promise<Entitlement>>()
  /** Increases with each change, so that a plan that was read before it is not kept. */
  let changes = 0
  const changedAt = new Map<string, number>()

  function remember(key: string, known: Known): void {
    if (young.size >= MAX_SUBJECTS / 2) {
      old = young
      young = new Map()
    }
    young.set(key, known)
  }

  function recall(key: string): Entitlement | undefined {
    const recent = young.get(key)
    const known = recent ?? old.get(key)
    if (!known) return undefined
    const { entitlement, loadedAt } = known
    if (performance.now() - loadedAt > MAX_AGE) return undefined
    if (entitlement.until !== null && clock.now() >= entitlement.until) return undefined
    if (!recent) remember(key, known)
    return entitlement
  }

  async function read(key: string, subject: Subject): Promise<Entitlement> {
    for (;;) {
      const before = changes
      const loadedAt = performance.now()
      const entitlement = await load(key, subject)
      if ((changedAt.get(key) ?? 0) > before) continue
      remember(key, { entitlement, loadedAt })
      return entitlement
    }
  }

  /** Returns the plan after all changes that this process has read. */
  function find(key: string, subject: Subject): Entitlement | Promise<Entitlement> {
    const known = recall(key) ?? loading.get(key)
    if (known) return known
    const reading = read(key, subject).finally(() => {
      loading.delete(key)
      if (loading.size === 0) changedAt.clear()
    })
    loading.set(key, reading)
    return reading
  }

  return {
    of: (key, subject) =>
      follower.isFresh() ? find(key, subject) : follower.sync().then(() => find(key, subject)),
    lastKnown(key) {
      const known = (young.get(key) ?? old.get(key))?.entitlement
      return known && (known.until === null || clock.now() < known.until) ? known : null
    },
    forget(key) {
      young.delete(key)
      old.delete(key)
      changes += 1
      if (loading.has(key)) changedAt.set(key, changes)
    },
    forgetAll() {
      young.clear()
      old.clear()
      changes += 1
      for (const key of loading.keys()) changedAt.set(key, changes)
    },
  }
}
