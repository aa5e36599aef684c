import type { Amount } from '../../core/values/money.ts'
import { defineCapability, defineFeature } from '../define-feature.ts'
import type { Checkout } from './checkout.ts'
import type { CheckoutItem, CheckoutOptions } from './checkout-request.ts'
import { resumeCheckout, resumeCheckoutPayment } from './resume.ts'
import { createStripeCheckout } from './stripe.ts'
import {
  type ChargePageOptions,
  type CheckoutResult,
  checkoutCharge,
  closeOpenCheckouts,
  completeUserCheckout,
  findUserCheckout,
  openCheckoutPage,
} from './user.ts'

declare module '../../billable-user.ts' {
  interface BillableUser<User> {
    /**
     * Expires every hosted page on which this user could still pay. A payment that was made there
     * just before is kept, and its subscription is stored in our database. Does nothing if no page
     * is open.
     */
    closeCheckouts(): Promise<void>

    /**
     * Opens a page hosted by the provider, on which the customer subscribes, pays, or enters a
     * card. Send the customer to its `url`. While the page is open, a call with the same arguments
     * returns the same page, and a call with other terms for the same subscription expires that
     * page.
     * @throws InvalidArgument before any request is sent to the provider.
     * @throws AlreadySubscribed if a subscription of that name exists: use `swap()`.
     * @example
     * const { url } = await user.checkout('monthly', { name: 'main', successPath: '/billing/done' })
     */
    checkout(items: string | readonly CheckoutItem[], options: CheckoutOptions): Promise<Checkout>

    /**
     * Opens a hosted page for a single payment. A plain number is an amount in the provider's own
     * unit.
     * @example
     * const { url } = await user.checkoutCharge(money(1999, 'eur'), 'Poster', {
     *   successPath: `/orders/${order.id}`,
     *   metadata: { order: order.id },
     * })
     */
    checkoutCharge(amount: Amount, name: string, options: ChargePageOptions): Promise<Checkout>

    /**
     * Reads the result of a hosted page, and updates our database. Call it in your own return
     * route. The webhook does the same; it does not matter which of them comes first.
     * @throws CheckoutNotFound if there is no such page, or it belongs to another user.
     * @example
     * const { isPaid, subscription } = await user.completeCheckout(query.session_id)
     */
    completeCheckout(id: string): Promise<CheckoutResult>

    /**
     * Finds a hosted page by its id, to expire it or to send the customer there again. `null` if
     * there is none, or it belongs to another user.
     */
    findCheckout(id: string): Promise<Checkout | null>
  }
}

declare module '../../core/storage/tables.ts' {
  interface OperationKinds {
    checkout: true
    checkout_payment: true
  }
}

/** Closing hosted checkout pages on which customers could still pay. */
export const openCheckoutsFeature = defineFeature({
  user: {
    closeCheckouts: closeOpenCheckouts,
  },
})

/** Checkout pages hosted by the provider, on which customers pay. */
export const checkoutCapability = defineCapability('checkout', {
  user: {
    checkout: openCheckoutPage,
    checkoutCharge: (user, amount, name, options) =>
      checkoutCharge(user, { amount, name }, options),
    completeCheckout: completeUserCheckout,
    findCheckout: findUserCheckout,
  },
  builder: ['checkout'],
  operations: { checkout: resumeCheckout, checkout_payment: resumeCheckoutPayment },
  stripe: createStripeCheckout,
})
