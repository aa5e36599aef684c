import type { PendingConfirmation } from '../../core/values/confirmation.ts'
import type { ProviderSubscription } from '../../providers/subscription.ts'

/** Payments that the customer has to confirm, and subscriptions whose first payment is missing. */
export interface Confirmations {
  /**
   * Finds what a subscription asks the customer to confirm: a payment, or the card to charge after
   * the trial. `null` for nothing.
   */
  find(id: string): Promise<PendingConfirmation | null>
  /**
   * Finds what an invoice asks the customer to confirm. `null` for nothing, or if the invoice
   * belongs to another customer.
   */
  findOfInvoice(id: string, customerId: string): Promise<PendingConfirmation | null>
  /** Lists everything this customer has to confirm now. */
  list(customerId: string): Promise<PendingConfirmation[]>
  /**
   * Whether the missing first payment of a subscription can still arrive, by the customer's current
   * card. If not, the customer can no longer confirm it.
   */
  isAwaiting(subscription: ProviderSubscription, customerId: string): Promise<boolean>
  /**
   * Ends a subscription whose first payment is missing, and makes sure it can no longer be paid. If
   * the payment has arrived, does nothing.
   */
  abandon(subscription: ProviderSubscription): Promise<void>
  /**
   * Undoes what is left, such as another tax, of a change that waited for payment authentication
   * and expired unpaid. Does nothing while the change still waits, or once it was paid.
   */
  undoLapsedChange(id: string): Promise<void>
  /**
   * Voids the unpaid invoices of an ended subscription: its first payment, and those of changes
   * that waited for payment authentication. Can be repeated.
   */
  closeUnpaid(subscription: ProviderSubscription): Promise<void>
}

declare module '../../providers/gateway-parts.ts' {
  interface GatewayParts {
    /** Payments that the customer has to confirm at their bank. */
    readonly confirmations: Confirmations
  }

  interface ReadingMethods {
    readonly confirmations: 'find' | 'findOfInvoice' | 'list' | 'isAwaiting'
  }
}
