import {
  formatMoney,
  type ItemWanted,
  money,
  type Subscription,
  toDecimal,
} from '@tollgate/billing'
import type { Plan, Settings } from '../../../config/settings.ts'

/** The plan a subscription is on; null for one that is no longer offered. */
export function planOf(
  plans: readonly Plan[],
  { provider, providerPlan }: Pick<Subscription, 'provider' | 'providerPlan'>,
): Plan | null {
  return plans.find((plan) => plan[provider] === providerPlan) ?? null
}

export function findPlan(plans: readonly Plan[], id: string | null | undefined): Plan | null {
  return plans.find((plan) => plan.id === id) ?? null
}

/** The total of a period for so many of a plan: `$30.00`. */
export function formatTotal(
  { amount }: Plan,
  quantity: number,
  { currency }: Pick<Settings, 'currency'>,
): string {
  return formatMoney(money(amount * quantity, currency))
}

/** The amount of the first charge as decimal text, for the card's bank; zero during a trial. */
export function firstAmount(
  { amount }: Plan,
  { currency }: Pick<Settings, 'currency'>,
  trialDays: number,
): string {
  return toDecimal(money(trialDays > 0 ? 0 : amount, currency))
}

/** `per month`, `per year`, `every 3 months`. */
export function formatRhythm({ months }: Pick<Plan, 'months'>): string {
  if (months === 1) return 'per month'
  return months === 12 ? 'per year' : `every ${months} months`
}

type Held = Pick<Subscription, 'provider' | 'quantity'>

/** The quantity after a change to this plan. A plan that is not sold by the seat is charged once. */
export function quantityOn(plan: Plan, { provider, quantity }: Held): number {
  return provider === 'stripe' && !plan.seats ? 1 : quantity
}

/** Which quantities people may choose: any number, nothing but 1, or no other than they have. */
export type QuantityChoice = 'any' | 'one' | 'none'

/**
 * Decides which quantities people may choose. Braintree has none, and a plan without seats would only be paid for twice.
 * People who have several of it, from an operator or from before, may go back to one. A plan that is no longer offered may
 * have had seats.
 */
export function quantityChoice(plan: Plan | null, { provider, quantity }: Held): QuantityChoice {
  if (provider !== 'stripe') return 'none'
  if (plan?.seats) return 'any'
  if (quantity === 1) return 'none'
  return plan === null ? 'any' : 'one'
}

/** Whether we say no to a quantity ourselves. Braintree, which has none, does so with an error of its own. */
export function refusesQuantity(plan: Plan | null, held: Held, quantity: number): boolean {
  const choice = quantityChoice(plan, held)
  if (choice === 'one') return quantity !== 1
  return choice === 'none' && held.provider === 'stripe'
}

/** The argument for `swap()`, which keeps the quantity by itself. Prices beside the plan stay. */
export function swapTarget(plan: Plan, subscription: Subscription): string | ItemWanted[] {
  const price = plan[subscription.provider]
  const quantity = quantityOn(plan, subscription)
  if (quantity === subscription.quantity) return price
  const others = subscription.items().filter((item) => !item.isMain && item.price !== price)
  return [
    { price, quantity },
    ...others.map((item) => ({ price: item.price, quantity: item.quantity })),
  ]
}

/** A trial is given once: whoever has had one begins to pay at once. */
export function trialDaysFor(
  plan: Plan,
  before: readonly Pick<Subscription, 'trialEndsAt'>[],
): number {
  return before.some(({ trialEndsAt }) => trialEndsAt !== null) ? 0 : plan.trialDays
}
