import { defineCapability, defineFeature, pickGatewayPart } from '../define-feature.ts'
import { createBraintreeSwaps } from '../swap/braintree.ts'
import type { SwapPreview } from '../swap/contract.ts'
import { createStripeSwaps } from '../swap/stripe.ts'
import { type SwapOptions, swapPrices } from '../swap/subscription.ts'
import {
  changeItems,
  hasProduct,
  type PreviewOptions,
  previewChange,
  type SubscriptionChange,
} from './subscription.ts'

declare module '../../subscription.ts' {
  interface Subscription {
    /**
     * Whether one of the subscription's prices belongs to this product at Stripe. Always `false` at
     * Braintree, which has no products. Sends a request to the provider if our database does not
     * contain the product.
     */
    hasProduct(product: string): Promise<boolean>

    /**
     * Adds a price to the subscription (an add-on at Braintree). A repeat with the same quantity
     * has no effect.
     * @throws InvalidArgument if the subscription already has the price with another quantity: use
     * `updateQuantity()`.
     * @throws UnknownPrice if the provider has no such price.
     * @example
     * await subscription.addPrice('price_seat', 5)
     */
    addPrice(price: string, quantity?: number, options?: SwapOptions): Promise<Subscription>

    /**
     * Adds a price like `addPrice()`, and charges it immediately instead of with the next invoice.
     * @throws InvalidArgument during a pause.
     */
    addPriceAndInvoice(
      price: string,
      quantity?: number,
      options?: SwapOptions,
    ): Promise<Subscription>

    /**
     * Removes a price from the subscription. Does nothing if the subscription does not have the
     * price.
     * @throws InvalidArgument for the main price: swap it instead.
     */
    removePrice(price: string, options?: SwapOptions): Promise<Subscription>

    /**
     * Replaces a price by another one with the same quantity.
     * @throws ItemNotFound if the subscription has no such price.
     */
    swapItem(from: string, to: string, options?: SwapOptions): Promise<Subscription>

    /**
     * Previews the cost of any change of prices without changing anything. Pass the returned
     * `prorationDate` to the method that makes the change, to be charged exactly this amount.
     * @example
     * const { total, prorationDate } = await subscription.preview({ add: 'seat', quantity: 2 })
     * await subscription.addPrice('seat', 2, { prorationDate })
     */
    preview(change: SubscriptionChange, options?: PreviewOptions): Promise<SwapPreview>
  }
}

/** The product that a subscription's price belongs to. */
export const pricesFeature = defineFeature({
  subscription: {
    hasProduct,
  },
})

/** Several prices in one subscription. */
export const subscriptionItemsCapability = defineCapability('items', {
  subscription: {
    preview: previewChange,
  },
  changes: {
    addPrice: async (subscription, price, quantity = 1, options = {}) =>
      changeItems(subscription, { add: price, quantity }, { ...options, invoiceNow: false }),
    addPriceAndInvoice: async (subscription, price, quantity = 1, options = {}) =>
      changeItems(subscription, { add: price, quantity }, { ...options, invoiceNow: true }),
    removePrice: async (subscription, price, options = {}) =>
      changeItems(subscription, { remove: price }, { ...options, invoiceNow: false }),
    swapItem: async (subscription, from, to, options = {}) => {
      if (from === subscription.record.providerPlan) {
        return swapPrices(subscription, { ...options, price: to, invoiceNow: false })
      }
      return changeItems(subscription, { replace: from, by: to }, { ...options, invoiceNow: false })
    },
  },
  builder: ['price'],
  stripe: (context) => pickGatewayPart(createStripeSwaps(context), 'items'),
  braintree: (context) => pickGatewayPart(createBraintreeSwaps(context), 'items'),
})
