import type { PendingConfirmation } from '../../../../values/confirmation.ts'
import type { ProviderSubscription } from '../../subscription.ts'

/** Payments that wait for the customer, and subscriptions that are there before their first payment. */
export interface Confirmations {
  /** What the customer is asked to confirm: a card for after the trial, or a payment. */
  find(id: string): Promise<PendingConfirmation | null>
  /** The same, of an invoice; null when it asks for nothing, or is somebody else's. */
  findOfInvoice(id: string, customerId: string): Promise<PendingConfirmation | null>
  /** All that this customer is asked to confirm now. */
  list(customerId: string): Promise<PendingConfirmation[]>
  /**
   * Of one whose first payment is missing: whether that is still on its way, by the customer's present card. Otherwise
   * nobody can say yes to it any more.
   */
  isAwaiting(subscription: ProviderSubscription, customerId: string): Promise<boolean>
  /** Ends one whose first payment is missing: it can never come. One that came is left alone. */
  abandon(subscription: ProviderSubscription): Promise<void>
  /** All as before a change that was held and not paid. One that is held still, or was paid, stands. */
  putBack(id: string): Promise<void>
  /** Of one that is over: nobody can pay its first payment any more, nor that of a change that was held. Can be repeated. */
  closeUnpaid(subscription: ProviderSubscription): Promise<void>
}
