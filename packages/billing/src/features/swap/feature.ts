import { defineCapability, defineFeature, pickGatewayPart } from '../define-feature.ts'
import { createBraintreeSwaps } from './braintree.ts'
import type { SwapPreview } from './contract.ts'
import { resumeSwap } from './resume.ts'
import { createStripeSwaps } from './stripe.ts'
import { previewSwap, type SwapItem, type SwapOptions, swapPrices } from './subscription.ts'

declare module '../../subscription.ts' {
  interface Subscription {
    /**
     * Swaps the main price. The trial, the quantity and the other prices stay. A list replaces all
     * prices of the subscription; the main price comes first. During the grace period, a swap also
     * resumes the subscription. Stripe charges the difference with the next invoice, or immediately
     * if the new price starts a new period; Braintree charges it immediately.
     * @throws {InvalidArgument} while the subscription is paused, if the swap charges immediately.
     * @throws {UnknownPrice} if the provider has no such price.
     * @throws {SubscriptionEnded} if the subscription has ended.
     * @throws {PaymentOverdue} if the swap would credit money that was never paid.
     * @throws {PaymentActionRequired} if the bank wants the customer to confirm a payment.
     * @throws {PaymentFailed} if a payment is declined; the old price then stays.
     * @example
     * ```ts
     * await subscription.swap('pro') await subscription.swap([{ price: 'pro' }, { price: 'seat',
     * quantity: 5 }])
     * ```
     */
    swap(plan: string | readonly SwapItem[], options?: SwapOptions): Promise<Subscription>

    /**
     * Does the same as `swap()`, but bills the difference immediately instead of with the next
     * invoice.
     * @throws {InvalidArgument} while the subscription is paused.
     */
    swapAndInvoice(
      price: string | readonly SwapItem[],
      options?: SwapOptions,
    ): Promise<Subscription>

    /**
     * Previews the cost of `swap()` without changing anything. Pass the returned `prorationDate` to
     * `swap()` to be charged exactly this amount.
     * @example
     * ```ts
     * const { total, prorationDate } = await subscription.previewSwap('pro')
     * await subscription.swap('pro', { prorationDate })
     * ```
     */
    previewSwap(price: string | readonly SwapItem[], options?: SwapOptions): Promise<SwapPreview>
  }
}

declare module '../../core/storage/tables.ts' {
  interface OperationKinds {
    swap: true
  }
}

/** Swapping the plan or the prices of a subscription. */
export const swapFeature = defineFeature({
  subscription: {
    previewSwap: (subscription, price, options = {}) =>
      previewSwap(subscription, { ...options, price, invoiceNow: false }),
  },
  changes: {
    swap: (subscription, plan, options = {}) =>
      swapPrices(subscription, { ...options, price: plan, invoiceNow: false }),
    swapAndInvoice: (subscription, price, options = {}) =>
      swapPrices(subscription, { ...options, price, invoiceNow: true }),
  },
  operations: { swap: resumeSwap },
  stripe: createStripeSwaps,
  braintree: createBraintreeSwaps,
})

/** Swaps for which the provider needs a new subscription that replaces the old one. */
export const swapReplacementsCapability = defineCapability('replacements', {
  braintree: (context) => pickGatewayPart(createBraintreeSwaps(context), 'replacements'),
})
