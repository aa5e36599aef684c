import type { BasisPoints } from '../../core/values/tax.ts'
import type { CustomerDetails } from '../../providers/customer.ts'
import type { NewSubscription } from '../../providers/subscription.ts'
import type { FirstInvoices, UpcomingInvoice } from './upcoming-invoice.ts'

/** A subscription to preview. */
export interface PossibleSubscription
  extends Omit<NewSubscription, 'operation' | 'name' | 'customerId'> {
  /** The provider's id of the customer. `null` for a user without a customer yet. */
  readonly customerId: string | null
  /** Details of a user without a customer yet. */
  readonly details: CustomerDetails
}

/** Previews of invoices. Creates nothing at the provider. */
export interface Forecasts {
  /**
   * Previews the next invoice of a subscription. `null` if none comes. `tax` is part of the prices,
   * for providers that do not know taxes.
   */
  upcoming(id: string, tax: BasisPoints): Promise<UpcomingInvoice | null>
  /**
   * Previews the invoices of `createSubscription`: the first one, and the one after the trial or
   * first period.
   */
  ofNew(subscription: PossibleSubscription, now: Date): Promise<FirstInvoices>
}

declare module '../../providers/gateway-parts.ts' {
  interface GatewayParts {
    /** Previews of invoices. */
    readonly forecasts: Forecasts
  }

  interface ReadingMethods {
    readonly forecasts: keyof Forecasts
  }
}
