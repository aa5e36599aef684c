import { defineCapability } from '../define-feature.ts'
import { billingPortal, type PortalOptions } from './open-portal.ts'
import { createStripePortal } from './stripe.ts'

declare module '../../billable-user.ts' {
  interface BillableUser<User> {
    /**
     * Creates a link to the provider's billing portal, on which the customer manages cards and
     * subscriptions. Use it for one visit, and do not store it.
     * @throws NoCustomer if there is no customer yet.
     * @throws NoSubscription if `flow` names a subscription that does not exist.
     * @example
     * const { url } = await user.billingPortal({ returnPath: '/account' })
     */
    billingPortal(options: PortalOptions): Promise<{ readonly url: string }>
  }
}

/** The provider's billing portal, on which customers manage cards and subscriptions. */
export const customerPortalCapability = defineCapability('portal', {
  user: {
    billingPortal,
  },
  stripe: createStripePortal,
})
