import type { PendingConfirmation } from '../../core/values/confirmation.ts'
import type { ProviderSubscription } from '../../providers/subscription.ts'

/**
 * Gateway interface for payments that the customer has to authenticate (3-D Secure), and for
 * subscriptions whose first payment is missing.
 */
export interface PaymentConfirmations {
  /**
   * Finds the payment of a subscription that the customer has to authenticate, or the card to be
   * charged after its trial. `null` if nothing has to be confirmed.
   */
  find(id: string): Promise<PendingConfirmation | null>
  /**
   * Finds the payment of an invoice that the customer has to authenticate. `null` if there is none,
   * or if the invoice belongs to another customer.
   */
  findOfInvoice(id: string, customerId: string): Promise<PendingConfirmation | null>
  /** Lists all payments and cards that this customer has to authenticate now. */
  list(customerId: string): Promise<PendingConfirmation[]>
  /**
   * Whether the missing first payment of a subscription still waits for the customer to
   * authenticate it, with the card that is the default now. If `false`, the customer can no longer
   * complete it.
   */
  isAwaiting(subscription: ProviderSubscription, customerId: string): Promise<boolean>
  /**
   * Ends a subscription whose first payment is missing, and makes sure that this payment can no
   * longer be made. Does nothing if the payment has arrived.
   */
  abandon(subscription: ProviderSubscription): Promise<void>
  /**
   * Undoes the remains of a subscription change that waited for payment authentication and expired
   * unpaid, such as tax rates that were already changed. Does nothing while the change still waits,
   * or if it was paid.
   */
  undoLapsedChange(id: string): Promise<void>
  /**
   * Voids the unpaid invoices of an ended subscription: the invoice of its first payment, and the
   * invoices of changes that waited for payment authentication. Repeated calls have no further
   * effect.
   */
  closeUnpaid(subscription: ProviderSubscription): Promise<void>
}

declare module '../../providers/gateway-parts.ts' {
  interface GatewayParts {
    /** Gateway interface to payments that the customer has to confirm with their bank. */
    readonly confirmations: PaymentConfirmations
  }

  interface ReadOnlyMethods {
    readonly confirmations: 'find' | 'findOfInvoice' | 'list' | 'isAwaiting'
  }
}
