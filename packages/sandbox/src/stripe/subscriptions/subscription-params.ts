import type Stripe from 'stripe'
import { checkSoldIn, isSoldIn } from '../catalog/currency-options.ts'
import type { CustomerRow, PriceRow, SubscriptionRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import {
  createInvalidRequestFault,
  createMutuallyExclusiveFault,
  createNegativeNumberFault,
} from '../wire/errors.ts'
import { hasSameRecurrence } from '../wire/periods.ts'

const DAY = 86_400
const TWO_YEARS = 731 * DAY

export function resolveCurrency(
  customer: CustomerRow,
  prices: readonly PriceRow[],
  requestedCurrency: string | undefined,
): string {
  const { currency: usual } = customer
  const asUsual = usual && prices.every((price) => isSoldIn(price, usual))
  const currency =
    requestedCurrency?.toLowerCase() ?? (asUsual ? usual : prices[0]?.currency) ?? 'usd'
  for (const price of prices) checkSoldIn(price, currency, 'items')
  if (customer.currency && customer.currency !== currency) {
    throw createInvalidRequestFault(
      `You cannot combine currencies on a single customer. This customer is billed in \`${customer.currency}\`.`,
      'customer',
    )
  }
  return currency
}

/**
 * Checks that all prices of a subscription have the same interval. Only flexible billing mode
 * allows different intervals.
 */
export function checkMixedIntervals(
  { billing_mode: mode }: Pick<SubscriptionRow, 'billing_mode'>,
  prices: readonly PriceRow[],
  path = 'items',
): void {
  if (mode.type === 'flexible') return
  const first = prices[0]?.recurring ?? null
  if (prices.every((price) => hasSameRecurrence(price.recurring, first))) return
  throw createInvalidRequestFault(
    'Currently, all prices on a subscription must use the same `recurring.interval` and `recurring.interval_count`.',
    path,
  )
}

export function readTrialEnd(
  work: UnitOfWork,
  params: Stripe.SubscriptionCreateParams,
  prices: readonly PriceRow[],
): number | null {
  const { trial_end: end, trial_period_days: days, trial_from_plan: fromPlan } = params
  if (end !== undefined && (days !== undefined || fromPlan)) {
    throw createMutuallyExclusiveFault(
      `trial_end, ${fromPlan ? 'trial_from_plan' : 'trial_period_days'}`,
    )
  }
  if (end === 'now') return null
  if (end !== undefined) return checkTrialEnd(work, end)
  if (days !== undefined) {
    if (days < 0) throw createNegativeNumberFault('trial_period_days')
    if (days > 730)
      throw createInvalidRequestFault(
        'The maximum number of trial period days is 730 (2 years).',
        'trial_period_days',
      )
    return days === 0 ? null : work.now + days * DAY
  }
  const planDays = fromPlan
    ? Math.max(0, ...prices.map((price) => price.recurring?.trial_period_days ?? 0))
    : 0
  return planDays > 0 ? work.now + planDays * DAY : null
}

export function checkTrialEnd(work: UnitOfWork, end: number): number {
  if (end <= work.now)
    throw createInvalidRequestFault(
      'Invalid timestamp: must be an integer Unix timestamp in the future.',
      'trial_end',
    )
  if (end > work.now + TWO_YEARS) {
    throw createInvalidRequestFault(
      'Invalid timestamp: can be no more than two years in the future.',
      'trial_end',
    )
  }
  return end
}

export function readBillingMode(
  params: Pick<Stripe.SubscriptionCreateParams, 'billing_mode'>,
): SubscriptionRow['billing_mode'] {
  if (params.billing_mode?.type === 'classic') return { flexible: null, type: 'classic' }
  return {
    flexible: {
      proration_discounts: params.billing_mode?.flexible?.proration_discounts ?? 'included',
    },
    type: 'flexible',
  }
}
