import type Stripe from 'stripe'
import type { ActiveDiscount, EndReason, Gateway } from '../../contract/gateway.ts'
import { type StripeContext, toDate } from '../sdk/client.ts'
import { isMissing } from '../sdk/errors.ts'

/** What is taken off a subscription, and why it ended. */
export function stripeStanding({
  stripe,
}: StripeContext): Pick<Gateway, 'findDiscounts' | 'findEndReason'> {
  return {
    async findDiscounts(id) {
      const { discounts } = await stripe.subscriptions.retrieve(id, {
        expand: ['discounts.source.coupon'],
      })
      return discounts.flatMap((discount) =>
        typeof discount === 'string' ? [] : describeDiscount(discount),
      )
    },
    async findEndReason(id) {
      try {
        return describeEnd(await stripe.subscriptions.retrieve(id))
      } catch (error) {
        if (isMissing(error)) return null
        throw error
      }
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
      billsLeft: null,
    },
  ]
}

/** Every other reason, Stripe's newer ones included, is that somebody asked for it. */
const ENDED_BY: Readonly<Record<string, EndReason>> = {
  payment_failed: 'payment_failed',
  payment_disputed: 'payment_disputed',
}

function describeEnd({ status, cancellation_details }: Stripe.Subscription): EndReason | null {
  if (status === 'incomplete_expired') return 'payment_failed'
  if (status !== 'canceled') return null
  return ENDED_BY[cancellation_details?.reason ?? ''] ?? 'cancelled'
}
