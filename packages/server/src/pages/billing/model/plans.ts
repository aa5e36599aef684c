import { formatMoney, money, type Subscription, toDecimal } from '@tollgate/billing'
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

/** `$10.00`. */
export function formatPrice({ amount }: Plan, { currency }: Pick<Settings, 'currency'>): string {
  return formatMoney(money(amount, currency))
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

/**
 * Whether people may choose a quantity. Braintree has none, and a plan that is not sold by the seat
 * would only be paid for twice. Who has several, from another plan or from an operator, may reduce them.
 */
export function hasSeats(
  plan: Plan | null,
  { provider, quantity }: Pick<Subscription, 'provider' | 'quantity'>,
): boolean {
  return provider === 'stripe' && (plan?.seats === true || quantity > 1)
}

/** Whether we say no to a quantity ourselves; Braintree, which has none, does so with an error of its own. */
export function isSoldWhole(
  plan: Plan | null,
  subscription: Pick<Subscription, 'provider' | 'quantity'>,
): boolean {
  return subscription.provider === 'stripe' && !hasSeats(plan, subscription)
}

/** A trial is given once: whoever has had one begins to pay at once. */
export function trialDaysFor(
  plan: Plan,
  before: readonly Pick<Subscription, 'trialEndsAt'>[],
): number {
  return before.some(({ trialEndsAt }) => trialEndsAt !== null) ? 0 : plan.trialDays
}
