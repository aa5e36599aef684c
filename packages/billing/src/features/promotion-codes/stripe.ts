import type Stripe from 'stripe'
import type { Gateway } from '../../providers/gateway.ts'
import { getReferencedId, type StripeContext, toDate } from '../../providers/stripe/client.ts'
import type { ActiveDiscount } from '../../providers/subscription.ts'
import type { NewDiscount, PromotionCodes, ProviderPromotionCode } from './contract.ts'
import {
  callWithPromotionCode,
  findReplacementState,
  isUsedUp,
  REPLACED_CODE_KEY,
} from './stripe-replacement-codes.ts'

/** Format of Stripe's promotion codes. */
const CODE = /^[\w-]{1,500}$/

/** Metadata key of a subscription whose discounts were changed after its start. */
export const DISCOUNTS_CHANGED_KEY = 'discounts_changed'

/** Implements promotion codes for Stripe, and changes of a subscription's discounts. */
export function createStripePromotionCodes(context: StripeContext): {
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
        // Only one code can be active at a time. The list starts with the newest.
        const found = data.find(({ active }) => active) ?? data[0]
        if (!found) return null
        const owed =
          customerId !== null && isUsedUp(found)
            ? await findReplacementState(context, found, customerId)
            : { is: 'nothing' }
        return owed.is === 'nothing' ? describe(found) : describe(showAsUnused(found))
      },
      async apply(id, discount) {
        const { discounts, customer } = await stripe.subscriptions.retrieve(id, {
          expand: ['discounts.promotion_code'],
        })
        const [first, ...others] = discounts
        if (first && others.length === 0 && isRequestedDiscount(first, discount)) return
        const update = (off: Stripe.SubscriptionUpdateParams.Discount) =>
          stripe.subscriptions.update(id, {
            discounts: [off],
            metadata: { [DISCOUNTS_CHANGED_KEY]: 'true' },
          })
        if ('coupon' in discount) {
          await update({ coupon: discount.coupon })
          return
        }
        const { promotionCode: typed } = discount
        await callWithPromotionCode(
          context,
          { coupon: typed, customerId: getReferencedId(customer) },
          {
            make: (given) => update({ promotion_code: given ?? typed }),
            find: async () => null,
          },
        )
      },
      async removeAll(id) {
        const { discounts } = await stripe.subscriptions.retrieve(id)
        if (discounts.length === 0) return
        await stripe.subscriptions.update(id, {
          discounts: '',
          metadata: { [DISCOUNTS_CHANGED_KEY]: 'true' },
        })
      },
    },
  }
}

/**
 * Whether the wanted discount is applied already. A code and its replacement count as the same
 * discount, so that its duration does not restart.
 */
function isRequestedDiscount(there: string | Stripe.Discount, wanted: NewDiscount): boolean {
  if (typeof there === 'string') return false
  const { promotion_code: code, source } = there
  if ('coupon' in wanted) return code === null && getReferencedId(source.coupon) === wanted.coupon
  const inPlaceOf =
    code !== null && typeof code === 'object' ? code.metadata?.[REPLACED_CODE_KEY] : null
  return [getReferencedId(code), inPlaceOf].includes(wanted.promotionCode)
}

/**
 * Shows a used up code as unused, for a customer who is owed a use. Stripe deactivates used up
 * codes.
 */
function showAsUnused(code: Stripe.PromotionCode): Stripe.PromotionCode {
  return { ...code, active: true, max_redemptions: 1, times_redeemed: 0 }
}

function describe(found: Stripe.PromotionCode): ProviderPromotionCode {
  const { restrictions, expires_at: expiresAt, promotion } = found
  const { coupon } = promotion
  if (!coupon || typeof coupon === 'string')
    throw new Error(`Stripe returned no coupon for the promotion code ${found.id}`)
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
    left: countRemainingUses([found, coupon]),
    isActive: found.active && coupon.valid,
    customerId: getReferencedId(found.customer),
    raw: found,
  }
}

/** Returns how often a code can still be used. The code and its coupon can have separate limits. */
export function countRemainingUses(
  limited: readonly { readonly max_redemptions: number | null; readonly times_redeemed: number }[],
): number | null {
  const lefts = limited.flatMap(({ max_redemptions: most, times_redeemed: used }) =>
    most === null ? [] : [Math.max(0, most - used)],
  )
  return lefts.length === 0 ? null : Math.min(...lefts)
}

/** Implements reading the discounts of a subscription for Stripe. */
export function createStripeDiscounts({ stripe }: StripeContext): Pick<Gateway, 'findDiscounts'> {
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
      // Stripe removes it from the subscription after its only invoice.
      billsLeft: coupon.duration === 'once' ? 1 : null,
    },
  ]
}
