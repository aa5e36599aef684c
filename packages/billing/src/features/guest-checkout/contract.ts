import type { NewCheckout, ProviderCheckout } from '../checkout/contract.ts'

/**
 * A hosted checkout page to create for a guest: a visitor who is neither a user nor a customer yet.
 */
export interface NewGuestCheckout extends Omit<NewCheckout, 'customerId' | 'operation'> {
  /** Idempotency key: repeated calls with the same key return the same page. */
  readonly key: string
}

/**
 * Gateway interface to hosted checkout pages for guests. Completing a page creates a customer at
 * the provider, who belongs to no user until a user claims the page.
 */
export interface GuestPages {
  /**
   * Creates a hosted checkout page for a guest. A repeated call with the same key returns the same
   * page. The gateway's `checkout.find()` finds it by its id.
   */
  create(checkout: NewGuestCheckout): Promise<ProviderCheckout>
}

declare module '../../providers/gateway-parts.ts' {
  interface GatewayParts {
    /** Gateway interface to hosted checkout pages for guests. */
    readonly guestCheckout: GuestPages
  }
}
