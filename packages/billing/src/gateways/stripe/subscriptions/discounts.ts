import type Stripe from 'stripe'
import type { Gateway } from '../../contract/gateway.ts'
import type { ActiveDiscount } from '../../contract/subscription.ts'
import { type StripeContext, toDate } from '../sdk/client.ts'

/** What is taken off a subscription. */
export function stripeDiscounts({ stripe }: StripeContext): Pick<Gateway, 'findDiscounts'> {
  return {
    async findDiscounts(id) {
      const { discounts } = await stripe.subscriptions.retrieve(id, {
        expand: ['discounts.source.coupon'],
      })
      return discounts.flatMap((discount) =>
        typeof discount === 'string' ? [] : describeDiscount(discount),
      )
    },
  }
}

function describeDiscount({ source, end }: Stripe.Discount): ActiveDiscount[] {
  const { coupon } = source
  if (!coupon || typeof coupon === 'string') return []
  const { amount_off: amount, currency } = coupon
  return [
    {
      coupon: coupon.id,
      name: coupon.name ?? coupon.id,
      percentOff: coupon.percent_off,
      amountOff: amount !== null && currency !== null ? { amount, currency } : null,
      endsAt: end === null ? null : toDate(end),
      // It is gone from the subscription with the bill that it was for.
      billsLeft: coupon.duration === 'once' ? 1 : null,
    },
  ]
}
