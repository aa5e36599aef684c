import type { BasisPoints } from '../../core/values/tax.ts'
import type { CustomerDetails } from '../../providers/customer.ts'
import type { NewSubscription } from '../../providers/subscription.ts'
import type { FirstInvoices, UpcomingInvoice } from './upcoming-invoice.ts'

/** The new subscription whose first invoices are previewed, without creating it. */
export interface PreviewedSubscription
  extends Omit<NewSubscription, 'operation' | 'name' | 'customerId'> {
  /** The provider's id of the customer. `null` for a user without a customer yet. */
  readonly customerId: string | null
  /**
   * Name, address and other details of a user without a customer yet, from which the provider
   * calculates taxes.
   */
  readonly details: CustomerDetails
}

/** Gateway interface for previews of invoices. Creates nothing at the provider. */
export interface InvoiceForecasts {
  /**
   * Previews the next invoice of a subscription. `null` if there will be none. `tax` is the tax
   * that the prices include, for providers that do not handle taxes.
   */
  upcoming(id: string, tax: BasisPoints): Promise<UpcomingInvoice | null>
  /**
   * Previews the invoices that `createSubscription()` would cause: the first one, and the one after
   * the trial or first period.
   */
  ofNew(subscription: PreviewedSubscription, now: Date): Promise<FirstInvoices>
}

declare module '../../providers/gateway-parts.ts' {
  interface GatewayParts {
    /** Gateway interface for previews of invoices. */
    readonly forecasts: InvoiceForecasts
  }

  interface ReadOnlyMethods {
    readonly forecasts: keyof InvoiceForecasts
  }
}
