import { money, type Subscription, type SwapItem, toDecimal } from '@tollgate/billing'
import type { Plan, Settings } from '../../../config/settings.ts'
import { ENGLISH, formatAmount, type PageText } from '../../../messages/messages.ts'

/** Returns the plan of a subscription. `null` if the plan is no longer offered. */
export function planOf(
  plans: readonly Plan[],
  { provider, providerPlan }: Pick<Subscription, 'provider' | 'providerPlan'>,
): Plan | null {
  return plans.find((plan) => plan[provider] === providerPlan) ?? null
}

export function findPlan(plans: readonly Plan[], id: string | null | undefined): Plan | null {
  return plans.find((plan) => plan.id === id) ?? null
}

/** Formats the price of a billing period for the given quantity, such as `$30.00`. */
export function formatTotal(
  { amount }: Plan,
  quantity: number,
  { currency }: Pick<Settings, 'currency'>,
  t: PageText = ENGLISH,
): string {
  return formatAmount(money(amount * quantity, currency), t)
}

/**
 * Returns the amount of the first charge as decimal text, such as `30.00`, for the confirmation by
 * the card's bank. Zero if the subscription begins with a trial.
 */
export function firstAmount(
  { amount }: Plan,
  { currency }: Pick<Settings, 'currency'>,
  trialDays: number,
): string {
  return toDecimal(money(trialDays > 0 ? 0 : amount, currency))
}

/** Describes the billing interval: `per month`, `per year` or `every 3 months`. */
export function formatInterval({ months }: Pick<Plan, 'months'>, t: PageText = ENGLISH): string {
  if (months === 1) return t('rhythm.month')
  return months === 12 ? t('rhythm.year') : t('rhythm.months', { months })
}

type HeldSubscription = Pick<Subscription, 'provider' | 'quantity'>

/**
 * Returns the quantity of a subscription after a change to the plan. At Stripe it becomes 1 if the
 * plan has no seats.
 */
export function quantityOn(plan: Plan, { provider, quantity }: HeldSubscription): number {
  return provider === 'stripe' && !plan.seats ? 1 : quantity
}

/**
 * The quantities that a person may choose for a subscription: `any` number, only 1 (`one`), or no
 * change (`none`).
 */
export type QuantityChoice = 'any' | 'one' | 'none'

/**
 * Returns which quantities a person may choose. Braintree supports no quantities. For a plan
 * without seats, a person who has more than one can only go back to one. A plan that is no longer
 * offered may have had seats.
 */
export function quantityChoice(
  plan: Plan | null,
  { provider, quantity }: HeldSubscription,
): QuantityChoice {
  if (provider !== 'stripe') return 'none'
  if (plan?.seats) return 'any'
  if (quantity === 1) return 'none'
  return plan === null ? 'any' : 'one'
}

/**
 * Whether the page must reject a quantity for the plan. Returns `false` at Braintree, because
 * billing itself rejects it there.
 */
export function refusesQuantity(
  plan: Plan | null,
  held: HeldSubscription,
  quantity: number,
): boolean {
  const choice = quantityChoice(plan, held)
  if (choice === 'one') return quantity !== 1
  return choice === 'none' && held.provider === 'stripe'
}

/**
 * Returns the argument for `swap()` that changes a subscription to the plan. Other prices of the
 * subscription stay.
 */
export function swapTarget(plan: Plan, subscription: Subscription): string | SwapItem[] {
  const price = plan[subscription.provider]
  const quantity = quantityOn(plan, subscription)
  if (quantity === subscription.quantity) return price
  const others = subscription.items().filter((item) => !item.isMain && item.price !== price)
  return [
    { price, quantity },
    ...others.map((item) => ({ price: item.price, quantity: item.quantity })),
  ]
}

/**
 * Returns the length of the trial in days: 0 if an earlier subscription of the person had a trial.
 */
export function trialDaysFor(
  plan: Plan,
  earlierSubscriptions: readonly Pick<Subscription, 'trialEndsAt'>[],
): number {
  return earlierSubscriptions.some(({ trialEndsAt }) => trialEndsAt !== null) ? 0 : plan.trialDays
}

/** How long a preview is valid, in milliseconds. Its amounts depend on the time it was made for. */
const PREVIEW_LIFETIME = 15 * 60_000

/**
 * Parses the time at which the preview of a plan change was calculated, as sent back by the form.
 * `null` if it is more than 15 minutes old or in the future, which could credit unused days twice.
 */
export function parseProrationDate(value: string | null, now: Date): Date | null {
  if (value === null || !/^\d{1,15}$/.test(value)) return null
  const at = Number(value)
  const age = now.getTime() - at
  return age >= 0 && age <= PREVIEW_LIFETIME ? new Date(at) : null
}
