import type { CheckoutResult } from '../checkout/user.ts'
import { defineCapability } from '../define-feature.ts'
import { claimCheckout, resumeClaim } from './claim.ts'
import { createStripeGuestPages } from './stripe.ts'

declare module '../../billable-user.ts' {
  interface BillableUser<User> {
    /**
     * Assigns to this user what a guest paid for on a page of `billing.guestCheckout()`: the
     * customer, its payments and its subscription. Anyone who knows the id can claim the page, so
     * take it from the visitor's own session, or from the URL to which Stripe redirected the
     * visitor. A repeat changes nothing.
     * @throws CheckoutNotFound if there is no such page, it was not completed, or another user has
     * claimed it.
     * @throws TransferRefused if this user has a customer or subscriptions already.
     * @example
     * const user = await billing.user(newUser.id)
     * await user.claimCheckout(request.query.session_id)
     */
    claimCheckout(id: string): Promise<CheckoutResult>
  }
}

declare module '../../core/storage/tables.ts' {
  interface OperationKinds {
    claim_checkout: true
  }
}

/** Hosted checkout pages for guests, who become users later. */
export const guestCheckoutCapability = defineCapability('guestCheckout', {
  user: { claimCheckout },
  operations: { claim_checkout: resumeClaim },
  stripe: createStripeGuestPages,
})
