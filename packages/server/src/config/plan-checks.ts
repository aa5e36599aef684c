import type { z } from 'zod'

// Mistakes that concern several members of a plan. They are looked for in whatever was written,
// even if one of the members alone is wrong, so that all mistakes are reported at once.

type Path = readonly PropertyKey[]
type Members = Readonly<Record<string, unknown>>
type Report = (path: Path, message: string) => void

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const listIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** The members that say what a price costs. A price has one of them. */
const COSTS = ['amount', 'tiers', 'unitAmount'] as const
const OF_USAGE = ['included', 'packageSize'] as const
const OF_INTERVALS = [
  'months',
  ...COSTS,
  'mode',
  'meter',
  'unit',
  ...OF_USAGE,
  'stripe',
  'braintree',
] as const

/** Checks a plan: its price, its intervals and its additional prices. */
export function checkPlan(plan: unknown, context: z.core.$RefinementCtx): void {
  if (!isObject(plan)) return
  const report = reportTo(context)
  const { intervals, months, prices } = plan
  if (intervals === undefined) {
    if (months === undefined) {
      report(['months'], 'missing: add the length of a billing period in months, such as 1 or 12')
    }
    checkPrice(plan, [], report)
  } else {
    for (const name of OF_INTERVALS.filter((each) => plan[each] !== undefined)) {
      report([name], 'write it into each of the `intervals` instead')
    }
  }
  checkSeats(plan, report)
  checkPrices(prices, ['prices'], report)
  const several = listIn(intervals).length > 1
  for (const [at, interval] of listIn(intervals).entries()) {
    if (!isObject(interval)) continue
    checkPrice(interval, ['intervals', at], report)
    checkPrices(interval.prices, ['intervals', at, 'prices'], report)
  }
  if (several) checkSharedPrices(listIn(prices), listIn(intervals), report)
}

/** Checks that no two plans have the same id, or the same price at a provider. */
export function checkPlans(plans: unknown, context: z.core.$RefinementCtx): void {
  const report = reportTo(context)
  const ids = new Map<string, string>()
  for (const [at, plan] of listIn(plans).entries()) {
    if (!isObject(plan)) continue
    const { id, intervals } = plan
    for (const [path, value] of [
      [[at, 'id'], id] as const,
      ...listIn(intervals).map((each, index) => {
        return [[at, 'intervals', index, 'id'], isObject(each) ? each.id : undefined] as const
      }),
    ]) {
      if (typeof value !== 'string') continue
      const before = ids.get(value)
      if (before !== undefined) {
        report(path, `plans.${before} is '${value}' too: use another id for one of them`)
      }
      ids.set(value, path.join('.'))
    }
  }
  for (const provider of ['stripe', 'braintree']) checkMainPrices(listIn(plans), provider, report)
}

/** The main price tells which plan a subscription has, so it belongs to one plan only. */
function checkMainPrices(plans: readonly unknown[], provider: string, report: Report): void {
  const found = new Map<string, string>()
  for (const [at, plan] of plans.entries()) {
    if (!isObject(plan)) continue
    const own = [[[at, provider], plan] as const]
    const each = listIn(plan.intervals).map((interval, index) => {
      return [[at, 'intervals', index, provider], isObject(interval) ? interval : {}] as const
    })
    for (const [path, priced] of [...own, ...each]) {
      const price = priced[provider] ?? null
      if (typeof price !== 'string') continue
      const before = found.get(price)
      if (before !== undefined) {
        report(
          path,
          `plans.${before} is '${price}' too: each plan and interval needs its own price`,
        )
      }
      found.set(price, path.join('.'))
    }
  }
}

function checkPrice(price: Members, path: Path, report: Report): void {
  const given = COSTS.filter((name) => price[name] !== undefined)
  const [first, ...others] = given
  const at = (name: string) => [...path, name]
  if (first === undefined) {
    report(
      path,
      'has no price: add amount (in the smallest unit of the currency, 2900 for 29.00), tiers, or meter and unitAmount',
    )
  }
  for (const name of others) report(at(name), `remove it or ${first}: a price has only one of them`)
  const isOfUsage = price.meter !== undefined
  if (isOfUsage && first === 'amount') {
    report(at('amount'), 'a price with a meter is charged by usage: use unitAmount or tiers')
  }
  if (!isOfUsage && first === 'unitAmount') {
    report(at('unitAmount'), 'is charged by usage: add the name of the meter, or use amount')
  }
  if (!isOfUsage && price.unit !== undefined) {
    report(at('unit'), 'remove it, or add the meter whose unit it names')
  }
  if (price.mode !== undefined && price.tiers === undefined) {
    report(at('mode'), 'remove it, or add tiers: it says how tiers are charged')
  }
  for (const name of OF_USAGE) {
    if (price[name] !== undefined && price.unitAmount === undefined) {
      report(at(name), 'remove it, or add unitAmount, which it belongs to')
    }
  }
  if (price.included !== undefined && price.packageSize !== undefined) {
    report(at('included'), 'remove it or packageSize: Stripe has no price with both')
  }
  checkTiers(listIn(price.tiers), at('tiers'), report)
}

function checkTiers(tiers: readonly unknown[], path: Path, report: Report): void {
  let below = 0
  for (const [at, tier] of tiers.entries()) {
    if (!isObject(tier)) continue
    const { upTo, unitAmount, flatAmount } = tier
    const isLast = at === tiers.length - 1
    if (isLast && upTo !== null) {
      report([...path, at, 'upTo'], 'the last tier needs upTo: null, so that it has no end')
    }
    if (!isLast && (typeof upTo !== 'number' || upTo <= below)) {
      report(
        [...path, at, 'upTo'],
        `expected a whole number above ${below}, the end of the tier before`,
      )
    }
    if (unitAmount === undefined && flatAmount === undefined) {
      report([...path, at], 'has no price: add unitAmount, flatAmount or both')
    }
    if (typeof upTo === 'number') below = upTo
  }
}

function checkPrices(prices: unknown, path: Path, report: Report): void {
  const ids = new Set<unknown>()
  for (const [at, price] of listIn(prices).entries()) {
    if (!isObject(price)) continue
    checkPrice(price, [...path, at], report)
    if (price.tiers !== undefined && price.meter === undefined) {
      report([...path, at, 'meter'], 'missing: an additional price with tiers is charged by usage')
    }
    if (ids.has(price.id)) {
      report([...path, at, 'id'], `'${price.id}' is the id of another price: use another id`)
    }
    ids.add(price.id)
  }
}

/** A provider's price has one interval, so intervals cannot share it. */
function checkSharedPrices(
  prices: readonly unknown[],
  intervals: readonly unknown[],
  report: Report,
): void {
  const shared = intervals.filter((each) => isObject(each) && each.prices === undefined).length
  if (shared < 2) return
  for (const [at, price] of prices.entries()) {
    if (!isObject(price) || typeof price.stripe !== 'string') continue
    report(
      ['prices', at, 'stripe'],
      'the intervals of the plan cannot share a price: write `prices` into each of the intervals',
    )
  }
}

function checkSeats({ seats, meter }: Members, report: Report): void {
  if (isObject(seats)) {
    const { min = 1, max } = seats
    if (typeof max === 'number' && typeof min === 'number' && max < min) {
      report(['seats', 'max'], `expected at least ${min}, which is min`)
    }
  }
  if (meter !== undefined && seats !== undefined && seats !== false) {
    report(['seats'], 'remove it: a plan that is charged by usage has no quantity')
  }
}

function reportTo(context: z.core.$RefinementCtx): Report {
  return (path, message) => context.addIssue({ code: 'custom', path: [...path], message })
}
