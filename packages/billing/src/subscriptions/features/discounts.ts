import { requireCodeText, requirePromotionCode } from '../../customers/promotion-codes.ts'
import type { NewDiscount } from '../../gateways/contract/parts/money/promotion-codes.ts'
import { requirePart } from '../../gateways/contract/parts.ts'
import { requireText } from '../../values/arguments.ts'
import { mindingPlan } from '../planned-swap.ts'
import type { SubscriptionHaving } from '../subscription-scope.ts'

type Discountable = SubscriptionHaving<'promotionCodes'>

export async function applyPromotionCode(subscription: Discountable, code: string): Promise<void> {
  const text = requireCodeText(code)
  subscription.requireRunning()
  const { context, user, record } = subscription
  const typed = { text, typedBy: user, provider: record.provider }
  await apply(subscription, { promotionCode: await requirePromotionCode(context, typed) })
}

export async function applyCoupon(subscription: Discountable, coupon: string): Promise<void> {
  requireText('coupon', coupon)
  subscription.requireRunning()
  await apply(subscription, { coupon })
}

export async function removeDiscounts(subscription: Discountable): Promise<void> {
  subscription.requireRunning()
  await subscription.change(
    mindingPlan(subscription, 'discounts', ({ found, ask }) =>
      ask((gateway) => requirePart(gateway, 'promotionCodes').removeAll(found.id)),
    ),
  )
}

/** The end state is what is asked for, so a repeat finds it. */
function apply(subscription: Discountable, discount: NewDiscount): Promise<void> {
  return subscription.change(
    mindingPlan(subscription, 'discounts', ({ found, ask }) =>
      ask((gateway) => requirePart(gateway, 'promotionCodes').apply(found.id, discount)),
    ),
  )
}
