import { InvalidUse } from '../errors.ts'
import type { ResolvedOptions } from '../options.ts'
import { type PlanTerms, parsePlan } from '../plans/plan.ts'
import type { Override, Overrides } from '../storage/overrides.ts'
import type { Subject } from '../subject.ts'
import { findSubscribedPlan } from './billing-plans.ts'
import type { Entitlement } from './entitlements.ts'
import type { Periods } from './periods.ts'

type Finder = (key: string, subject: Subject) => Promise<Entitlement>

/**
 * Creates the function that determines the plan of a subject: an override, then the application's
 * own `planOf()`, then the plan of a subscription, then the plan that the option `otherwise` names.
 */
export function createPlanFinder(
  options: ResolvedOptions,
  overrides: Overrides,
  periods: Periods,
): Finder {
  const { plans, otherwise, planOf, billing, clock } = options

  async function findAssigned(subject: Subject) {
    const found =
      (await planOf?.(subject)) ??
      (billing && (await findSubscribedPlan(billing, plans, subject, clock.now()))) ??
      otherwise
    const { plan, period, until } = typeof found === 'string' ? { plan: found } : found
    return { terms: requirePlan(plans, plan), plan, period: period ?? null, until: until ?? null }
  }

  return async (key, subject) => {
    const now = clock.now()
    const stored = await overrides.find(key)
    const override = stored && (!stored.endsAt || stored.endsAt > now) ? stored : null
    const assigned = await findAssigned(subject)
    const plan = override?.plan ?? assigned.plan
    const terms = override ? applyOverride(options, plan, override) : assigned.terms
    const period =
      assigned.period && countsByPeriod(terms)
        ? await periods.find(key, assigned.period, now)
        : null
    const until = findEarlier(assigned.until, override?.endsAt ?? null)
    return { plan, terms, period, until: findEarlier(until, period?.endsAt ?? null) }
  }
}

/** Whether a meter counts per billing period. One without a quota does. */
const countsByPeriod = ({ quotas }: PlanTerms): boolean =>
  [...quotas.values()].some((quota) => quota === null || quota.interval === 'period')

/**
 * Returns the terms of a plan, in which the terms of an override replace those of the plan.
 * @throws InvalidUse if the override names something unknown
 */
export function applyOverride(
  { plans, meters }: ResolvedOptions,
  plan: string,
  { terms }: Override,
): PlanTerms {
  const base = requirePlan(plans, plan)
  if (!terms) return base
  try {
    const parsed = parsePlan(plan, terms, { meters: Object.fromEntries(meters), scopes: null })
    return {
      scopes: terms.scopes ? parsed.scopes : base.scopes,
      features: terms.features ? parsed.features : base.features,
      quotas: new Map([...base.quotas, ...parsed.quotas]),
      rate: terms.rate === undefined ? base.rate : parsed.rate,
      prices: base.prices,
    }
  } catch (error) {
    throw error instanceof TypeError ? new InvalidUse(error.message, { cause: error }) : error
  }
}

function requirePlan(plans: ResolvedOptions['plans'], name: string): PlanTerms {
  const terms = plans.get(name)
  if (terms) return terms
  throw new InvalidUse(
    `There is no plan ${JSON.stringify(name)}. The gate has ${[...plans.keys()].join(', ')}.`,
  )
}

function findEarlier(a: Date | null, b: Date | null): Date | null {
  if (a === null || b === null) return a ?? b
  return a < b ? a : b
}
