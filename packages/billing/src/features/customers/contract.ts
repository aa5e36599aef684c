import type { CustomerDetails } from '../../providers/customer.ts'

/** Changes to the details of customers. */
export interface CustomerUpdates {
  /** Sets the given details. Can be repeated. */
  set(customerId: string, details: CustomerDetails): Promise<void>
}

declare module '../../providers/gateway-parts.ts' {
  interface GatewayParts {
    /** Changes to the details of customers. */
    readonly customerDetails: CustomerUpdates
    /** Whether the provider stores the language (`locale`) of customers. */
    readonly languages: true
  }
}
