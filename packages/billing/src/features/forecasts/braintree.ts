import type braintree from 'braintree'
import type { BasisPoints } from '../../core/values/tax.ts'
import type { BraintreeContext } from '../../providers/braintree/client.ts'
import { startOfDay } from '../../providers/braintree/days.ts'
import { describe } from '../../providers/braintree/describe-subscription.ts'
import { balanceOf, debtOf } from '../../providers/braintree/plan-credit.ts'
import { findRaw } from '../subscribe/braintree.ts'
import {
  type Line,
  lineOfBalance,
  linesOfCycle,
  toUpcoming,
  withUnusedCredit,
} from './braintree-lines.ts'
import { firstInvoices } from './braintree-new-subscription.ts'
import type { Forecasts } from './contract.ts'
import type { UpcomingInvoice } from './upcoming-invoice.ts'

/** Previews of invoices, calculated from the subscription, because Braintree has none. */
export function braintreeForecasts(context: BraintreeContext): { readonly forecasts: Forecasts } {
  return {
    forecasts: {
      async upcoming(id, tax) {
        const found = await findRaw(context, id)
        return found ? upcomingOf(context, found, tax) : null
      },
      ofNew: (wanted, now) => firstInvoices(context, wanted, now),
    },
  }
}

/** Returns the next cycle, with debt or credit from earlier ones. `null` if none comes. */
function upcomingOf(
  context: BraintreeContext,
  found: braintree.Subscription,
  tax: BasisPoints,
): UpcomingInvoice | null {
  const { isOver, endsAt } = describe(context, found)
  const { nextBillingDate, price, addOns = [], discounts = [], planId } = found
  if (isOver || endsAt !== null || !nextBillingDate) return null
  const { currency } = context
  const debt: Line = {
    kind: 'balance',
    description: 'Past due',
    amount: debtOf(found, currency),
  }
  const lines = [
    ...linesOfCycle({ planId, price: price ?? '0', addOns, discounts }, context),
    lineOfBalance(balanceOf(found, currency)),
    debt,
  ]
  return toUpcoming(withUnusedCredit(lines), { currency, tax, date: startOfDay(nextBillingDate) })
}
