import type Stripe from 'stripe'
import type {
  NewDiscount,
  PromotionCodes,
  ProviderPromotionCode,
} from '../../../contract/parts/money/promotion-codes.ts'
import { idOf, type StripeContext, toDate } from '../../sdk/client.ts'
import { giveBack } from './given-back.ts'

/** What Stripe lets a code be made of. */
const CODE = /^[\w-]{1,500}$/

/** Codes that people type, and what is taken off a subscription instead. */
export function stripePromotionCodes(context: StripeContext): {
  readonly promotionCodes: PromotionCodes
} {
  const { stripe } = context
  return {
    promotionCodes: {
      async find(code) {
        if (!CODE.test(code)) return null
        const { data } = await stripe.promotionCodes.list({
          code,
          limit: 100,
          expand: ['data.promotion.coupon'],
        })
        // One code can be active at a time; the list begins with the newest.
        const found = data.find(({ active }) => active) ?? data[0]
        return found ? describe(found) : null
      },
      async giveBack({ code, raw }, customerId) {
        const given = await giveBack(context, raw as Stripe.PromotionCode, customerId)
        // People know the one that they have typed.
        return given && { ...describe(given), code }
      },
      async apply(id, discount) {
        const { discounts } = await stripe.subscriptions.retrieve(id, { expand: ['discounts'] })
        const [first, ...others] = discounts
        if (first && others.length === 0 && isOf(first, discount)) return
        await stripe.subscriptions.update(id, {
          discounts: [
            'coupon' in discount
              ? { coupon: discount.coupon }
              : { promotion_code: discount.promotionCode },
          ],
        })
      },
      async removeAll(id) {
        const { discounts } = await stripe.subscriptions.retrieve(id)
        if (discounts.length > 0) await stripe.subscriptions.update(id, { discounts: '' })
      },
    },
  }
}

function isOf(there: string | Stripe.Discount, wanted: NewDiscount): boolean {
  if (typeof there === 'string') return false
  const promotionCode = idOf(there.promotion_code)
  if ('promotionCode' in wanted) return promotionCode === wanted.promotionCode
  return promotionCode === null && idOf(there.source.coupon) === wanted.coupon
}

function describe(found: Stripe.PromotionCode): ProviderPromotionCode {
  const { restrictions, expires_at: expiresAt, promotion } = found
  const { coupon } = promotion
  if (!coupon || typeof coupon === 'string') throw new Error(`No coupon is told of ${found.id}`)
  const { amount_off: amount, currency } = coupon
  const { minimum_amount: least, minimum_amount_currency: leastCurrency } = restrictions
  return {
    id: found.id,
    code: found.code,
    discount: {
      coupon: coupon.id,
      name: coupon.name ?? coupon.id,
      percentOff: coupon.percent_off,
      amountOff: amount !== null && currency !== null ? { amount, currency } : null,
      bills: coupon.duration === 'once' ? 1 : null,
      months: coupon.duration_in_months,
    },
    expiresAt: expiresAt === null ? null : toDate(expiresAt),
    isFirstTimeOnly: restrictions.first_time_transaction,
    minimum:
      least !== null && leastCurrency !== null ? { amount: least, currency: leastCurrency } : null,
    left: leftOf([found, coupon]),
    isActive: found.active && coupon.valid,
    customerId: idOf(found.customer),
    raw: found,
  }
}

/** Code and coupon may each be limited. */
function leftOf(
  limited: readonly { readonly max_redemptions: number | null; readonly times_redeemed: number }[],
): number | null {
  const lefts = limited.flatMap(({ max_redemptions: most, times_redeemed: used }) =>
    most === null ? [] : [Math.max(0, most - used)],
  )
  return lefts.length === 0 ? null : Math.min(...lefts)
}
