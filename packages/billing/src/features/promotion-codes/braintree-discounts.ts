import type braintree from 'braintree'
import { fromDecimal } from '../../core/values/money.ts'
import type { BraintreeContext } from '../../providers/braintree/client.ts'
import type { Gateway } from '../../providers/gateway.ts'
import type { ActiveDiscount } from '../../providers/subscription.ts'
import { findBraintreeSubscription } from '../subscribe/braintree.ts'

/** Implements reading the discounts of a subscription for Braintree. */
export function createBraintreeDiscounts(
  context: BraintreeContext,
): Pick<Gateway, 'findDiscounts'> {
  return {
    async findDiscounts(id) {
      const found = await findBraintreeSubscription(context, id)
      return (found?.discounts ?? [])
        .filter((discount) => discount.id !== context.planCredit)
        .map((discount) => describeDiscount(discount, context.currency))
        .filter(({ billsLeft }) => billsLeft !== 0)
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
