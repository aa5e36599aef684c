import type { CustomerDetails } from '../../providers/customer.ts'

/** Gateway interface for changing the details of customers (name, e-mail, address and others). */
export interface CustomerUpdates {
  /**
   * Sets the given details of the customer, and keeps the others. Repeated calls have no further
   * effect.
   */
  set(customerId: string, details: CustomerDetails): Promise<void>
}

declare module '../../providers/gateway-parts.ts' {
  interface GatewayParts {
    /**
     * Gateway interface for changing the details of customers (name, e-mail, address and others).
     */
    readonly customerDetails: CustomerUpdates
    /** Whether the provider stores the language (`locale`) of customers. */
    readonly languages: true
  }
}
