import type { SubscriptionScopeWith } from '../../core/subscription-scope.ts'
import { requireText } from '../../core/values/arguments.ts'
import { requireGatewayPart } from '../../providers/gateway-parts.ts'
import { withPlannedSwapRule } from '../schedules/planned-swap.ts'
import type { NewDiscount } from './contract.ts'
import { requireCodeText, requirePromotionCode } from './promotion-codes.ts'

type DiscountableSubscription = SubscriptionScopeWith<'promotionCodes'>

export async function applyPromotionCode(
  subscription: DiscountableSubscription,
  code: string,
): Promise<void> {
  const text = requireCodeText(code)
  subscription.requireRunning()
  const { context, user, record } = subscription
  const typed = { text, typedBy: user, provider: record.provider }
  await apply(subscription, { promotionCode: await requirePromotionCode(context, typed) })
}

export async function applyCoupon(
  subscription: DiscountableSubscription,
  coupon: string,
): Promise<void> {
  requireText('coupon', coupon)
  subscription.requireRunning()
  await apply(subscription, { coupon })
}

export async function removeDiscounts(subscription: DiscountableSubscription): Promise<void> {
  subscription.requireRunning()
  await subscription.change(
    withPlannedSwapRule(subscription, 'discounts', ({ found, ask }) =>
      ask((gateway) => requireGatewayPart(gateway, 'promotionCodes').removeAll(found.id)),
    ),
  )
}

/** Applies a discount. The whole discount is set, so that a repeat has the same result. */
function apply(subscription: DiscountableSubscription, discount: NewDiscount): Promise<void> {
  return subscription.change(
    withPlannedSwapRule(subscription, 'discounts', ({ found, ask }) =>
      ask((gateway) => requireGatewayPart(gateway, 'promotionCodes').apply(found.id, discount)),
    ),
  )
}
