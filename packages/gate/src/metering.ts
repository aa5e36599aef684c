import { type Database, isUnavailable } from '@tollgate/database'
import type { Clock } from './context.ts'
import type { Entitlement, Entitlements } from './entitlements/entitlements.ts'
import { GateUnavailable, InvalidUse } from './errors.ts'
import type { Gate, MeterUsage } from './gate.ts'
import type { ResolvedOptions } from './options.ts'
import type { Meter } from './plans/meter.ts'
import { findWindow } from './plans/window.ts'
import type { Counters } from './quotas/counters.ts'
import type { Leases, QuotaTarget } from './quotas/leases.ts'
import type { OutageAllowance } from './quotas/outage.ts'
import { countOnce } from './quotas/records.ts'
import { type Reservations, requireExpiry } from './quotas/reservations.ts'
import type { RateLimits } from './rates/bucket.ts'
import { formatSubject, type Subject } from './subject.ts'
import { buildRefusal, type Refusal, type Verdict } from './verdict.ts'

/** The parts from which `createMetering()` builds the methods that count use. */
export interface MeteringParts {
  readonly options: ResolvedOptions
  readonly database: Database
  readonly clock: Clock
  readonly counters: Counters
  readonly leases: Leases
  readonly reservations: Reservations
  readonly outage: OutageAllowance
  readonly rates: RateLimits
  readonly entitlements: Entitlements
}

interface Metering
  extends Pick<
    Gate,
    'admit' | 'check' | 'checkPlan' | 'checkFeature' | 'reserve' | 'record' | 'adjust' | 'usage'
  > {
  /** Uses up a quota except for `left` units, whatever the rate is. For tests of applications. */
  useUp(subject: Subject, meter: string, left: number): Promise<void>
}

/** Use of a meter under the plan of a subject. */
interface Use {
  readonly name: string
  readonly meter: Meter
  readonly entitlement: Entitlement
  /** The counter and its quota. `null` if the plan does not include the meter. */
  readonly target: QuotaTarget | null
  readonly now: Date
}

const MOST = 1_000_000_000

/** Creates the methods of the gate that count use. */
export function createMetering(parts: MeteringParts): Metering {
  const { options, database, clock, counters, leases, reservations, outage, rates } = parts

  function requireMeter(name: string): Meter {
    const meter = options.meters.get(name)
    if (meter) return meter
    throw new InvalidUse(
      `There is no meter ${JSON.stringify(name)}. The gate has ${[...options.meters.keys()].join(', ') || 'none'}.`,
    )
  }

  function requireCounted(name: string): Meter {
    const meter = requireMeter(name)
    if (meter.kind !== 'gauge') return meter
    throw new InvalidUse(`${name} is a gauge: change its level with adjust()`)
  }

  /** Returns the amount to count: one per call for a meter that counts calls. */
  function requireAmount(name: string, { kind }: Meter, amount: number): number {
    if (!Number.isSafeInteger(amount) || amount < 1 || amount > MOST) {
      throw new InvalidUse(
        `${name}: ${amount} is not an amount of use. Give a whole number from 1 to ${MOST}.`,
      )
    }
    if (kind === 'count' && amount !== 1) {
      throw new InvalidUse(`${name} counts calls, one at a time: leave the amount out`)
    }
    return amount
  }

  function describeUse(key: string, name: string, meter: Meter, entitlement: Entitlement): Use {
    const now = clock.now()
    const quota = entitlement.terms.quotas.get(name)
    if (quota === undefined) return { name, meter, entitlement, target: null, now }
    const interval = quota === null ? 'period' : quota.interval
    const { period } = entitlement
    // The clock of the provider may be ahead when a period begins.
    const isAhead = interval === 'period' && period !== null && period.startsAt > now
    const window = findWindow(interval, isAhead ? period.startsAt : now, period)
    const amount = quota === null ? null : quota.amount
    const target = { subject: key, meter: name, window, quota: amount }
    return { name, meter, entitlement, target, now }
  }

  /** Calls `next` with the use, without a promise if the plan is known. */
  function withUse<R>(
    subject: Subject,
    name: string,
    meter: Meter,
    next: (use: Use) => R | Promise<R>,
  ): R | Promise<R> {
    const key = formatSubject(subject)
    const found = parts.entitlements.of(key, subject)
    return found instanceof Promise
      ? found.then((entitlement) => next(describeUse(key, name, meter, entitlement)))
      : next(describeUse(key, name, meter, found))
  }

  const findEntitlement = (subject: Subject) =>
    parts.entitlements.of(formatSubject(subject), subject)

  function allow({ entitlement, target }: Pick<Use, 'entitlement' | 'target'>): Verdict {
    return {
      allowed: true,
      reason: null,
      plan: entitlement.plan,
      remaining: target?.quota == null ? null : leases.remaining(target),
      resetsAt: target?.quota == null ? null : target.window.endsAt,
      retryAfter: null,
      response: null,
    }
  }

  function refuse(
    { entitlement: { plan }, now }: Pick<Use, 'entitlement' | 'now'>,
    refusal: Omit<Refusal, 'plan' | 'upgradeUrl'>,
  ): Verdict {
    const { upgradeUrl } = options
    const { remaining = null } = refusal
    return {
      allowed: false,
      reason: refusal.reason,
      plan,
      remaining,
      resetsAt: refusal.resetsAt ?? null,
      retryAfter: refusal.retryAfter ?? null,
      response: buildRefusal({ ...refusal, plan, upgradeUrl }, now),
    }
  }

  const refuseMeter = (use: Use) =>
    refuse(use, { reason: 'meter_not_in_plan', missing: [use.name] })

  /** Refuses an amount that is larger than what is left, which need not be 0. */
  const refuseUsedUp = (use: Use, target: QuotaTarget, known = leases.remaining(target)) =>
    refuse(use, {
      reason: 'quota_used_up',
      missing: [use.name],
      quota: target.quota,
      resetsAt: target.window.endsAt,
      remaining: known ?? 0,
    })

  /** Refuses a caller that is too fast. `null` if it is not. */
  function checkRate(key: string, use: Use): Verdict | null | Promise<Verdict | null> {
    const { rate } = use.entitlement.terms
    if (rate === null) return null
    const toVerdict = (retryAfter: number) =>
      retryAfter === 0 ? null : refuse(use, { reason: 'too_fast', retryAfter })
    const retryAfter = rates.take(key, rate)
    return typeof retryAfter === 'number' ? toVerdict(retryAfter) : retryAfter.then(toVerdict)
  }

  /** Spends, or applies the meter's rules for a quota that is used up and for an outage. */
  async function spend(use: Use, target: QuotaTarget, amount: number): Promise<Verdict> {
    try {
      if (await leases.spend(target, amount)) return allow(use)
      if (use.meter.over !== 'bill') return refuseUsedUp(use, target)
      await leases.force(target, amount)
      return allow(use)
    } catch (error) {
      if (!isUnavailable(error)) throw error
      if (outage.tryAdmit(target, amount, use.meter.allowedInOutage)) return allow(use)
      throw unavailable(error)
    }
  }

  function admitUse(use: Use, amount: number): Verdict | Promise<Verdict> {
    const { target } = use
    if (!target) return refuseMeter(use)
    const tooFast = checkRate(target.subject, use)
    if (tooFast instanceof Promise) {
      return tooFast.then((refused) => refused ?? spend(use, target, amount))
    }
    if (tooFast) return tooFast
    return leases.trySpend(target, amount) ? allow(use) : spend(use, target, amount)
  }

  /** Units that are left, including those that this process has leased. */
  async function readRemaining(target: QuotaTarget): Promise<number | null> {
    if (target.quota === null) return null
    const taken = (await readOrRefuse(() => counters.read(target))) - leases.unspent(target)
    return Math.max(0, target.quota - taken)
  }

  /** Admits within the meter's bound by the plan that was known before the outage. */
  function admitInOutage(subject: Subject, name: string, amount: number, error: unknown): Verdict {
    const meter = requireMeter(name)
    const key = formatSubject(subject)
    const known = error instanceof GateUnavailable ? parts.entitlements.lastKnown(key) : null
    if (!known || meter.allowedInOutage === 0) throw error
    const use = describeUse(key, name, meter, known)
    if (!use.target) return refuseMeter(use)
    if (leases.trySpend(use.target, amount)) return allow(use)
    if (outage.tryAdmit(use.target, amount, meter.allowedInOutage)) return allow(use)
    throw error
  }

  return {
    admit(subject, name, amount = 1) {
      const meter = requireCounted(name)
      const units = requireAmount(name, meter, amount)
      const verdict = withUse(subject, name, meter, (use) => admitUse(use, units))
      if (!(verdict instanceof Promise)) return verdict
      return verdict.catch((error) => admitInOutage(subject, name, units, error))
    },
    async check(subject, name, amount = 1) {
      const meter = requireCounted(name)
      const units = requireAmount(name, meter, amount)
      return withUse(subject, name, meter, async (use) => {
        const { target } = use
        if (!target) return refuseMeter(use)
        const remaining = await readRemaining(target)
        const isEnough = remaining === null || remaining >= units || meter.over === 'bill'
        return isEnough ? { ...allow(use), remaining } : refuseUsedUp(use, target, remaining)
      })
    },
    async reserve(subject, name, amount, reserveOptions = {}) {
      const meter = requireCounted(name)
      const units = requireAmount(name, meter, amount)
      requireExpiry(reserveOptions)
      return withUse(subject, name, meter, async (use) => {
        const { target } = use
        if (!target) return { ...refuseMeter(use), reservation: null }
        const tooFast = await checkRate(target.subject, use)
        if (tooFast) return { ...tooFast, reservation: null }
        const bills = meter.over === 'bill'
        const open = (held: number) => ({
          ...allow(use),
          reservation: reservations.open(target, held, bills, reserveOptions),
        })
        if (leases.trySpend(target, units)) return open(units)
        return readOrRefuse(async () => {
          if (await leases.spend(target, units)) return open(units)
          if (bills) {
            await leases.force(target, units)
            return open(units)
          }
          const part = meter.over === 'cap' ? await leases.spendUpTo(target, units) : 0
          return part > 0 ? open(part) : { ...refuseUsedUp(use, target), reservation: null }
        })
      })
    },
    async checkPlan(subject, plans) {
      for (const name of plans) {
        if (!options.plans.has(name))
          throw new InvalidUse(`There is no plan ${JSON.stringify(name)}`)
      }
      const entitlement = await findEntitlement(subject)
      const use = { entitlement, target: null, now: clock.now() }
      return plans.includes(entitlement.plan)
        ? allow(use)
        : refuse(use, { reason: 'plan_required', missing: plans })
    },
    async checkFeature(subject, feature) {
      const entitlement = await findEntitlement(subject)
      const use = { entitlement, target: null, now: clock.now() }
      return entitlement.terms.features.has(feature)
        ? allow(use)
        : refuse(use, { reason: 'feature_not_in_plan', missing: [feature] })
    },
    async record(subject, name, amount, { id, at = clock.now() }) {
      const meter = requireCounted(name)
      const units = amount === 0 ? 0 : requireAmount(name, meter, amount)
      requireRecordId(id)
      if (!(at instanceof Date) || Number.isNaN(at.getTime()) || at > clock.now()) {
        throw new InvalidUse(`at: ${String(at)} is not a moment in the past`)
      }
      return withUse(subject, name, meter, async (use) => {
        const interval = use.entitlement.terms.quotas.get(name)?.interval ?? 'period'
        const window = findWindow(interval, at, use.entitlement.period)
        const key = formatSubject(subject)
        const target = { subject: key, meter: name, window, quota: null }
        return readOrRefuse(() =>
          countOnce(database, counters, { id, target, amount: units, recordedAt: clock.now() }),
        )
      })
    },
    async adjust(subject, name, by) {
      const meter = requireMeter(name)
      if (meter.kind !== 'gauge') {
        throw new InvalidUse(
          `${name} is no gauge: count its use with admit(), reserve() or record()`,
        )
      }
      if (!Number.isSafeInteger(by) || Math.abs(by) > MOST) {
        throw new InvalidUse(`${name}: ${by} is not a change of level. Give a whole number.`)
      }
      return withUse(subject, name, meter, async (use) => {
        const { target } = use
        if (!target) return refuseMeter(use)
        return readOrRefuse(async () => {
          if (by <= 0) {
            if (await counters.lower(target, -by)) return allow(use)
            throw new InvalidUse(`${name}: the level of ${target.subject} cannot fall below 0`)
          }
          const limit = meter.over === 'bill' ? null : target.quota
          const level = await counters.take(target, by, limit)
          if (level === null) return refuseUsedUp(use, target)
          const { quota } = target
          return { ...allow(use), remaining: quota === null ? null : Math.max(0, quota - level) }
        })
      })
    },
    async useUp(subject, name, left) {
      const meter = requireMeter(name)
      await withUse(subject, name, meter, async ({ target }) => {
        const remaining = target && (await readRemaining(target))
        if (!target || remaining === null) {
          throw new InvalidUse(`${name}: the plan has no quota to use up`)
        }
        const amount = remaining - left
        if (amount <= 0) return
        if (meter.kind === 'gauge') await counters.take(target, amount, target.quota)
        else await leases.spendUpTo(target, amount)
      })
    },
    async usage(subject) {
      const key = formatSubject(subject)
      const entitlement = await findEntitlement(subject)
      const uses = [...entitlement.terms.quotas.keys()].map((name) =>
        describeUse(key, name, requireMeter(name), entitlement),
      )
      const targets = uses.flatMap(({ target }) => target ?? [])
      const sums = await readOrRefuse(() => counters.readMany(targets))
      return targets.map((target, at): MeterUsage => {
        const { quota, meter: name, window } = target
        const meter = requireMeter(name)
        const used = Math.max(0, (sums[at] ?? 0) - leases.unspent(target))
        return {
          meter: name,
          unit: meter.unit,
          used,
          quota,
          remaining: quota === null ? null : Math.max(0, quota - used),
          resetsAt: meter.kind === 'gauge' ? null : window.endsAt,
        }
      })
    },
  }
}

function requireRecordId(id: unknown): void {
  if (typeof id === 'string' && /^[\x20-\x7e]{1,191}$/.test(id)) return
  throw new InvalidUse(
    `id: ${JSON.stringify(id)} is not the id of a use. Give 1 to 191 printable ASCII characters.`,
  )
}

function unavailable(cause: unknown): GateUnavailable {
  return new GateUnavailable('Use cannot be counted right now', { cause })
}

/** @throws GateUnavailable if the database is unavailable */
export async function readOrRefuse<R>(work: () => Promise<R>): Promise<R> {
  try {
    return await work()
  } catch (error) {
    throw isUnavailable(error) ? unavailable(error) : error
  }
}
