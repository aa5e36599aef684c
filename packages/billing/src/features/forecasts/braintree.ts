import type braintree from 'braintree'
import type { BasisPoints } from '../../core/values/tax.ts'
import type { BraintreeContext } from '../../providers/braintree/client.ts'
import { startOfDay } from '../../providers/braintree/days.ts'
import { toProviderSubscription } from '../../providers/braintree/describe-subscription.ts'
import {
  getBalanceWithoutDebt,
  getSubscriptionDebt,
} from '../../providers/braintree/plan-credit.ts'
import { findBraintreeSubscription } from '../subscribe/braintree.ts'
import {
  addUnusedCreditLine,
  createBalanceLine,
  type ForecastLine,
  forecastCycleLines,
  toUpcomingInvoice,
} from './braintree-lines.ts'
import { previewFirstInvoices } from './braintree-new-subscription.ts'
import type { InvoiceForecasts } from './contract.ts'
import type { UpcomingInvoice } from './upcoming-invoice.ts'

/**
 * Implements invoice previews for Braintree, calculated from the subscription, because Braintree
 * offers none.
 */
export function createBraintreeForecasts(context: BraintreeContext): {
  readonly forecasts: InvoiceForecasts
} {
  return {
    forecasts: {
      async upcoming(id, tax) {
        const found = await findBraintreeSubscription(context, id)
        return found ? previewNextInvoice(context, found, tax) : null
      },
      ofNew: (wanted, now) => previewFirstInvoices(context, wanted, now),
    },
  }
}

/**
 * Previews the invoice of the next cycle, with debt or credit from earlier cycles. `null` if there
 * is no next cycle.
 */
function previewNextInvoice(
  context: BraintreeContext,
  found: braintree.Subscription,
  tax: BasisPoints,
): UpcomingInvoice | null {
  const { isOver, endsAt } = toProviderSubscription(context, found)
  const { nextBillingDate, price, addOns = [], discounts = [], planId } = found
  if (isOver || endsAt !== null || !nextBillingDate) return null
  const { currency } = context
  const debt: ForecastLine = {
    kind: 'balance',
    description: 'Past due',
    amount: getSubscriptionDebt(found, currency),
  }
  const lines = [
    ...forecastCycleLines({ planId, price: price ?? '0', addOns, discounts }, context),
    createBalanceLine(getBalanceWithoutDebt(found, currency)),
    debt,
  ]
  return toUpcomingInvoice(addUnusedCreditLine(lines), {
    currency,
    tax,
    date: startOfDay(nextBillingDate),
  })
}
