import {
  builtInCapabilities,
  type Capability,
  type MeteredPrice,
  type Subscription,
} from '@tollgate/billing'
import type { AdditionalPrice, Plan } from './plans.ts'

export type PlanProvider = keyof typeof builtInCapabilities

/** Returns the plan of a subscription. `null` if the plan is no longer offered. */
export function findPlanOfSubscription(
  plans: readonly Plan[],
  { provider, providerPlan }: Pick<Subscription, 'provider' | 'providerPlan'>,
): Plan | null {
  return plans.find((plan) => plan[provider] === providerPlan) ?? null
}

/** Lists the prices of a plan that are charged by usage, with their meters. */
export function listMeterPrices(plan: Plan): { readonly meter: string; readonly name: string }[] {
  return [plan, ...plan.prices].flatMap(({ meter, name }) =>
    meter === null ? [] : [{ meter, name }],
  )
}

/** Whether the provider has a capability. */
export function can(provider: string, capability: Capability): boolean {
  const found = new Map<string, readonly Capability[]>(Object.entries(builtInCapabilities))
  return found.get(provider)?.includes(capability) ?? false
}

/** Whether a price is charged by usage. */
const isOfUsage = ({ meter }: AdditionalPrice) => meter !== null

/** The capabilities that members of a plan need at a provider. */
const NEEDS: ReadonlyArray<
  readonly [member: string, capability: Capability, isNeeded: (plan: Plan) => boolean]
> = [
  ['seats', 'quantities', ({ seats }) => seats.min > 1 || seats.count !== null],
  ['tiers', 'quantities', ({ rates, meter }) => rates !== null && meter === null],
  ['meter', 'meteredPrices', ({ meter }) => meter !== null],
  ['prices', 'items', ({ prices }) => prices.some((price) => !isOfUsage(price))],
  ['prices', 'usage', ({ prices }) => prices.some(isOfUsage)],
]

/** Whether people can subscribe to the plan through the provider. */
export function isSoldAt(plan: Plan, provider: PlanProvider): boolean {
  return plan[provider] !== null && missingAt(plan, provider).length === 0
}

function missingAt(plan: Plan, provider: PlanProvider) {
  return NEEDS.filter(([, capability, isNeeded]) => isNeeded(plan) && !can(provider, capability))
}

/**
 * Lists the additional prices that are part of a subscription at the provider. A provider without
 * metered prices gets them as the option `metered` instead, because billing itself charges the
 * usage.
 */
export function listAdditionalPrices(
  plan: Plan,
  provider: PlanProvider,
): readonly AdditionalPrice[] {
  return plan.prices.filter((price) => !isOfUsage(price) || can(provider, 'meteredPrices'))
}

/** Returns the prices of usage by meter, for a provider where billing itself charges the usage. */
export function meteredPrices(
  plans: readonly Plan[],
  provider: PlanProvider,
): Record<string, MeteredPrice> {
  const found = usagePrices(plans, provider).map(({ meter, name, rates }) => [
    meter,
    { description: name, ...rates },
  ])
  return Object.fromEntries(found)
}

function usagePrices(plans: readonly Plan[], provider: PlanProvider) {
  return plans
    .filter((plan) => plan[provider] !== null)
    .flatMap(({ plan, prices }) => prices.map((price) => ({ ...price, plan })))
    .filter((price) => isOfUsage(price) && price[provider] !== null)
}

/** Lists what the configured providers cannot sell, one sentence for each plan and reason. */
export function findUnsellable(
  plans: readonly Plan[],
  providers: readonly PlanProvider[],
): string[] {
  return providers.flatMap((provider) => {
    const name = provider.replace(/^./, (letter) => letter.toUpperCase())
    const lacking = plans
      .filter((plan) => plan[provider] !== null)
      .flatMap((plan) =>
        missingAt(plan, provider).map(
          ([member, capability]) =>
            `plans: '${plan.id}' cannot be sold at ${name}, which has no ${capability}, because of its ${member}: write ${provider}: null into the plan, to sell it elsewhere only`,
        ),
      )
    return [...lacking, ...findContradictions(plans, provider, name)]
  })
}

/** Finds meters with several prices, at a provider where billing itself charges usage. */
function findContradictions(
  plans: readonly Plan[],
  provider: PlanProvider,
  name: string,
): string[] {
  if (can(provider, 'meteredPrices')) return []
  const first = new Map<string, { readonly plan: string; readonly rates: string }>()
  const problems = new Set<string>()
  for (const { meter, plan, rates } of usagePrices(plans, provider)) {
    const known = first.get(meter ?? '')
    const text = JSON.stringify(rates)
    if (!known) first.set(meter ?? '', { plan, rates: text })
    else if (known.rates !== text) {
      problems.add(
        `plans: '${known.plan}' and '${plan}' have different prices for the meter ${meter}, but at ${name} a meter has one price: use another meter, or write ${provider}: null into the price`,
      )
    }
  }
  return [...problems]
}
