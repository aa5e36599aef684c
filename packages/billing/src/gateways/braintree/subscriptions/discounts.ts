import type braintree from 'braintree'
import { fromDecimal } from '../../../values/money.ts'
import type { ActiveDiscount, EndReason, Gateway } from '../../contract/gateway.ts'
import type { BraintreeContext } from '../sdk/client.ts'
import { findRaw } from './subscriptions.ts'

/** What is taken off a subscription, and why it ended. */
export function braintreeStanding(
  context: BraintreeContext,
): Pick<Gateway, 'findDiscounts' | 'findEndReason'> {
  return {
    async findDiscounts(id) {
      const found = await findRaw(context, id)
      return (found?.discounts ?? [])
        .filter((discount) => discount.id !== context.planCredit)
        .map((discount) => describeDiscount(discount, context.currency))
        .filter(({ billsLeft }) => billsLeft !== 0)
    },
    async findEndReason(id) {
      const found = await findRaw(context, id)
      return found && describeEnd(found)
    },
  }
}

function describeDiscount(discount: braintree.Discount, currency: string): ActiveDiscount {
  const { id, name, neverExpires, numberOfBillingCycles: total, quantity = 1 } = discount
  const each = fromDecimal(discount.amount ?? '0', currency)
  const left = (total ?? 0) - (discount.currentBillingCycle ?? 0)
  return {
    coupon: id,
    name: name || id,
    percentOff: null,
    amountOff: { ...each, amount: each.amount * quantity },
    endsAt: null,
    billsLeft: neverExpires ? null : Math.max(0, left),
  }
}

/** Braintree itself cancels after the last failed charge; everybody else was asked to. */
function describeEnd(subscription: braintree.Subscription): EndReason | null {
  const { status } = subscription
  if (status === 'Expired') return 'cancelled'
  if (status !== 'Canceled') return null
  const history = (subscription.statusHistory ?? []) as readonly {
    readonly status?: string
    readonly subscriptionSource?: string
  }[]
  const end = history.find((entry) => entry.status === status)
  return end?.subscriptionSource === 'recurring' ? 'payment_failed' : 'cancelled'
}
