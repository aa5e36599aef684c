import type braintree from 'braintree'
import type { BasisPoints } from '../../../values/tax.ts'
import type { Forecasts } from '../../contract/parts/subscriptions/forecasts.ts'
import type { UpcomingInvoice } from '../../contract/upcoming-invoice.ts'
import type { BraintreeContext } from '../sdk/client.ts'
import { startOfDay } from '../sdk/days.ts'
import {
  type Line,
  lineOfBalance,
  linesOfCycle,
  toUpcoming,
  withRest,
} from '../subscriptions/bill.ts'
import { describe } from '../subscriptions/describe.ts'
import { balanceOf, debtOf } from '../subscriptions/plan-credit.ts'
import { findRaw } from '../subscriptions/subscriptions.ts'
import { firstInvoices } from './of-new.ts'

/** Braintree has no previews: what it charges is counted from what it says of the subscription. */
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

/** The cycle that comes next, with what is owed or left from before. */
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
  return toUpcoming(withRest(lines), { currency, tax, date: startOfDay(nextBillingDate) })
}
