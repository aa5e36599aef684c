import { type ItemWanted, money, type Subscription, toDecimal } from '@tollgate/billing'
import type { Plan, Settings } from '../../../config/settings.ts'
import { ENGLISH, formatAmount, type PageText } from '../../../messages/messages.ts'

/** The plan of a subscription. `null` if it is no longer offered. */
export function planOf(
  plans: readonly Plan[],
  { provider, providerPlan }: Pick<Subscription, 'provider' | 'providerPlan'>,
): Plan | null {
  return plans.find((plan) => plan[provider] === providerPlan) ?? null
}

export function findPlan(plans: readonly Plan[], id: string | null | undefined): Plan | null {
  return plans.find((plan) => plan.id === id) ?? null
}

/** Formats the price of a billing period for a quantity: `$30.00`. */
export function formatTotal(
  { amount }: Plan,
  quantity: number,
  { currency }: Pick<Settings, 'currency'>,
  t: PageText = ENGLISH,
): string {
  return formatAmount(money(amount * quantity, currency), t)
}

/** The amount of the first charge as decimal text, for the card's bank; zero during a trial. */
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

type Held = Pick<Subscription, 'provider' | 'quantity'>

/** The quantity after a change to this plan: 1 at Stripe if the plan has no seats. */
export function quantityOn(plan: Plan, { provider, quantity }: Held): number {
  return provider === 'stripe' && !plan.seats ? 1 : quantity
}

/** The quantities people may choose: `any`, only 1 (`one`), or no change (`none`). */
export type QuantityChoice = 'any' | 'one' | 'none'

/**
 * Decides which quantities people may choose. Braintree has no quantities. More than one of a plan
 * without seats only costs more, so a person who has several can only go back to one. A plan that
 * is no longer offered may have had seats.
 */
export function quantityChoice(plan: Plan | null, { provider, quantity }: Held): QuantityChoice {
  if (provider !== 'stripe') return 'none'
  if (plan?.seats) return 'any'
  if (quantity === 1) return 'none'
  return plan === null ? 'any' : 'one'
}

/** Whether the page rejects a quantity. At Braintree billing itself rejects it. */
export function refusesQuantity(plan: Plan | null, held: Held, quantity: number): boolean {
  const choice = quantityChoice(plan, held)
  if (choice === 'one') return quantity !== 1
  return choice === 'none' && held.provider === 'stripe'
}

/**
 * The argument for `swap()`, which keeps the quantity unless told otherwise. Other prices of the
 * subscription stay.
 */
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

/** Length of the trial in days. 0 if the person has had a trial before. */
export function trialDaysFor(
  plan: Plan,
  before: readonly Pick<Subscription, 'trialEndsAt'>[],
): number {
  return before.some(({ trialEndsAt }) => trialEndsAt !== null) ? 0 : plan.trialDays
}

/** How long a preview is valid, in milliseconds. Its amounts depend on the time it was made for. */
const PREVIEW_LIFETIME = 15 * 60_000

/**
 * Parses the time of a preview, as the form sends it back. `null` if it is too old or in the
 * future, which would credit unused days twice.
 */
export function parseProrationDate(value: string | null, now: Date): Date | null {
  if (value === null || !/^\d{1,15}$/.test(value)) return null
  const at = Number(value)
  const age = now.getTime() - at
  return age >= 0 && age <= PREVIEW_LIFETIME ? new Date(at) : null
}
