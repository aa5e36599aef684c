import type Stripe from 'stripe'
import type {
  NewDiscount,
  PromotionCodes,
  ProviderPromotionCode,
} from '../../../contract/parts/money/promotion-codes.ts'
import { idOf, type StripeContext, toDate } from '../../sdk/client.ts'
import { withCode } from './given-back.ts'
import { findOwed, IN_PLACE_OF, isUsedUp } from './owed.ts'

/** What Stripe lets a code be made of. */
const CODE = /^[\w-]{1,500}$/

/** Metadata that says that the discounts are no longer those which the subscription began with. */
export const CHANGED = 'discounts_changed'

/** Codes that people type, and what is taken off a subscription instead. */
export function stripePromotionCodes(context: StripeContext): {
  readonly promotionCodes: PromotionCodes
} {
  const { stripe } = context
  return {
    promotionCodes: {
      async find(code, customerId) {
        if (!CODE.test(code)) return null
        const { data } = await stripe.promotionCodes.list({
          code,
          limit: 100,
          expand: ['data.promotion.coupon'],
        })
        // One code can be active at a time; the list begins with the newest.
        const found = data.find(({ active }) => active) ?? data[0]
        if (!found) return null
        const owed =
          customerId !== null && isUsedUp(found)
            ? await findOwed(context, found, customerId)
            : { is: 'nothing' }
        return owed.is === 'nothing' ? describe(found) : describe(asIfUnused(found))
      },
      async apply(id, discount) {
        const { discounts, customer } = await stripe.subscriptions.retrieve(id, {
          expand: ['discounts.promotion_code'],
        })
        const [first, ...others] = discounts
        if (first && others.length === 0 && isOf(first, discount)) return
        const update = (off: Stripe.SubscriptionUpdateParams.Discount) =>
          stripe.subscriptions.update(id, { discounts: [off], metadata: { [CHANGED]: 'true' } })
        if ('coupon' in discount) {
          await update({ coupon: discount.coupon })
          return
        }
        const { promotionCode: typed } = discount
        await withCode(
          context,
          { coupon: typed, customerId: idOf(customer) },
          {
            make: (given) => update({ promotion_code: given ?? typed }),
            find: async () => null,
          },
        )
      },
      async removeAll(id) {
        const { discounts } = await stripe.subscriptions.retrieve(id)
        if (discounts.length === 0) return
        await stripe.subscriptions.update(id, { discounts: '', metadata: { [CHANGED]: 'true' } })
      },
    },
  }
}

/** A code and the one that was given back for it are the same: what it takes off does not begin anew. */
function isOf(there: string | Stripe.Discount, wanted: NewDiscount): boolean {
  if (typeof there === 'string') return false
  const { promotion_code: code, source } = there
  if ('coupon' in wanted) return code === null && idOf(source.coupon) === wanted.coupon
  const inPlaceOf = code !== null && typeof code === 'object' ? code.metadata?.[IN_PLACE_OF] : null
  return [idOf(code), inPlaceOf].includes(wanted.promotionCode)
}

/** For whom a use of it is owed. Stripe switches off what is used up. */
function asIfUnused(code: Stripe.PromotionCode): Stripe.PromotionCode {
  return { ...code, active: true, max_redemptions: 1, times_redeemed: 0 }
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
