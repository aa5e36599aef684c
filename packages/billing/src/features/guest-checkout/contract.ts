import type { NewCheckout, ProviderCheckout } from '../checkout/contract.ts'

/** A hosted page for a guest, who has no customer yet. */
export interface NewGuestCheckout extends Omit<NewCheckout, 'customerId' | 'operation'> {
  /** Idempotency key. A repeat with the same key returns the same page. */
  readonly key: string
}

/**
 * Hosted pages for guests. Completing one creates a customer, which belongs to no user until one
 * claims the page.
 */
export interface GuestPages {
  /**
   * Creates a page. A repeat with the same key returns the same one. The part `checkout` finds it
   * by its id.
   */
  create(checkout: NewGuestCheckout): Promise<ProviderCheckout>
}

declare module '../../providers/gateway-parts.ts' {
  interface GatewayParts {
    /** Hosted pages for guests. */
    readonly guestCheckout: GuestPages
  }
}
