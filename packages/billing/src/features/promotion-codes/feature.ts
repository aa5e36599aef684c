import type { ActiveDiscount } from '../../providers/subscription.ts'
import { defineCapability, defineFeature } from '../define-feature.ts'
import { findDiscounts } from '../subscribe/subscription.ts'
import { createBraintreeDiscounts } from './braintree-discounts.ts'
import { findTypedCode, type PromotionCode } from './promotion-codes.ts'
import { createStripeDiscounts, createStripePromotionCodes } from './stripe.ts'
import { applyCoupon, applyPromotionCode, removeDiscounts } from './subscription.ts'

declare module '../../billable-user.ts' {
  interface BillableUser<User> {
    /**
     * Finds a promotion code that this user can use, and its discount. `null` if there is none, or
     * the user cannot use it. Does not apply the code. Whether the code is valid for a purchase is
     * only decided when it is applied.
     * @throws TooManyAttempts after too many wrong codes.
     * @example
     * const found = await user.findPromotionCode(request.body.code)
     * if (found) show(found.discount.percentOff, found.discount.amountOff)
     */
    findPromotionCode(code: string): Promise<PromotionCode | null>
  }
}

declare module '../../subscription.ts' {
  interface Subscription {
    /** Reads from the provider which discounts reduce the invoices now, and for how long. */
    discounts(): Promise<ActiveDiscount[]>

    /**
     * Applies a promotion code from the next invoice on, and replaces the current discounts.
     * @throws PromotionCodeRefused if the code cannot be used.
     * @throws TooManyAttempts after too many wrong codes.
     * @throws Unsupported if the provider has no promotion codes.
     * @example
     * await subscription.applyPromotionCode('SPRING25')
     */
    applyPromotionCode(code: string): Promise<Subscription>

    /**
     * Applies a coupon by its id from the next invoice on, and replaces the current discounts.
     * @throws UnknownCoupon if the provider has no such coupon.
     * @throws Unsupported if the provider has no promotion codes.
     */
    applyCoupon(coupon: string): Promise<Subscription>

    /** Removes all discounts from the next invoice on. */
    removeDiscounts(): Promise<Subscription>
  }
}

/** Current discounts of a subscription. */
export const discountsFeature = defineFeature({
  subscription: {
    discounts: findDiscounts,
  },
  stripe: createStripeDiscounts,
  braintree: createBraintreeDiscounts,
})

/** Promotion codes that customers type. */
export const promotionCodesCapability = defineCapability('promotionCodes', {
  user: {
    findPromotionCode: findTypedCode,
  },
  changes: {
    applyPromotionCode,
    applyCoupon,
    removeDiscounts,
  },
  builder: ['withPromotionCode'],
  stripe: createStripePromotionCodes,
})
