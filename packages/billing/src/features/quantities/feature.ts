import type { SubscriptionScope } from '../../core/subscription-scope.ts'
import { defineCapability, defineFeature } from '../define-feature.ts'
import type { SwapOptions } from '../swap/subscription.ts'
import { createStripeQuantities } from './stripe.ts'
import {
  addQuantity,
  getQuantityCapability,
  setQuantity,
  subtractQuantity,
} from './subscription.ts'

declare module '../../subscription.ts' {
  interface Subscription {
    /**
     * Adds `count` units (default 1) of the main price or, with `price`, of another price of the
     * subscription.
     * @throws {Unsupported} for the main price at a provider without quantities (Braintree).
     */
    incrementQuantity(count?: number, price?: string): Promise<Subscription>

    /**
     * Removes `count` units (default 1) of the main price or, with `price`, of another price of the
     * subscription. The quantity never falls below 1.
     * @throws {Unsupported} for the main price at a provider without quantities (Braintree).
     */
    decrementQuantity(count?: number, price?: string): Promise<Subscription>

    /**
     * Sets the quantity of the main price or, with `price`, of another price of the subscription.
     * Safe to repeat.
     * @throws {Unsupported} for the main price at a provider without quantities (Braintree).
     * @example
     * ```ts
     * await subscription.updateQuantity(5)
     * await subscription.updateQuantity(10, 'seat')
     * ```
     */
    updateQuantity(quantity: number, price?: string, options?: SwapOptions): Promise<Subscription>

    /**
     * Does the same as `incrementQuantity()`, but bills the difference immediately instead of with
     * the next invoice. If the customer has to confirm the payment with their bank, the units are
     * added after the confirmation; another call after that adds more units.
     * `updateQuantityAndInvoice()` is safe to repeat.
     * @throws {InvalidArgument} while the subscription is paused.
     * @throws {Unsupported} for the main price at a provider without quantities (Braintree).
     */
    incrementAndInvoice(count?: number, price?: string): Promise<Subscription>

    /**
     * Does the same as `updateQuantity()`, but bills the difference immediately instead of with the
     * next invoice. Safe to repeat.
     * @throws {InvalidArgument} while the subscription is paused.
     * @throws {Unsupported} for the main price at a provider without quantities (Braintree).
     */
    updateQuantityAndInvoice(
      quantity: number,
      price?: string,
      options?: SwapOptions,
    ): Promise<Subscription>
  }
}

declare module '../../core/storage/tables.ts' {
  interface OperationKinds {
    quantity: true
  }
}

/**
 * Requires the capability for the price: `quantities` for the main price, `items` for any other.
 */
function requireQuantityCapability(
  subscription: SubscriptionScope,
  price: string | undefined,
): SubscriptionScope {
  const isMain = price === subscription.record.providerPlan
  return subscription.withCapability(isMain ? 'quantities' : getQuantityCapability(price))
}

/** Changing the quantity of the main price or of an additional price. */
export const quantityChangesFeature = defineFeature({
  changes: {
    incrementQuantity: async (subscription, count = 1, price) =>
      addQuantity(requireQuantityCapability(subscription, price), count, { price }),
    decrementQuantity: async (subscription, count = 1, price) =>
      subtractQuantity(requireQuantityCapability(subscription, price), count, { price }),
    updateQuantity: async (subscription, quantity, price, options = {}) =>
      setQuantity(requireQuantityCapability(subscription, price), { ...options, quantity, price }),
    incrementAndInvoice: async (subscription, count = 1, price) => {
      const scope = requireQuantityCapability(subscription, price)
      scope.withCapability('items')
      await addQuantity(scope, count, { price, invoiceNow: true })
    },
    updateQuantityAndInvoice: async (subscription, quantity, price, options = {}) => {
      const scope = requireQuantityCapability(subscription, price)
      scope.withCapability('items')
      await setQuantity(scope, { ...options, quantity, price, invoiceNow: true })
    },
  },
  operations: { quantity: null },
})

/** Quantity (number of units, such as seats) of a subscription's main price. */
export const quantitiesCapability = defineCapability('quantities', {
  subscriptionNeeds: [
    'incrementQuantity',
    'decrementQuantity',
    'updateQuantity',
    'incrementAndInvoice',
    'updateQuantityAndInvoice',
  ],
  builder: ['quantity'],
  stripe: createStripeQuantities,
})
