import type { Money } from '../core/values/money.ts'

/** A webhook as it arrived, not verified yet. */
export interface RawWebhook {
  /** The raw body, over which the signature was computed. */
  readonly body: string
  /** Returns a header by its name, ignoring case. `null` if it is missing. */
  header(name: string): string | null
}

/** A webhook with a valid signature. */
export interface VerifiedEvent {
  /** The provider's id of the event, the same for every repeat. */
  readonly id: string
  /** The provider's event type, such as `invoice.paid` or `subscription_canceled`. */
  readonly type: string
  /** The payload to store, which `readEvent` can parse later. */
  readonly payload: string
  /**
   * Whether the event is from another mode (live or test) or account. Such events are stored
   * without effect.
   */
  readonly foreign: boolean
}

/**
 * An object in an event that is in none of our rows, such as an invoice or a refund. It is read
 * again by its id before billing events are sent.
 */
export interface EventObject {
  /** The kind of object and event, as the type of the billing event. */
  readonly type:
    | 'invoice.paid'
    | 'invoice.payment_failed'
    | 'invoice.action_required'
    | 'invoice.voided'
    | 'refund.created'
    | 'credit_note.created'
  /** The provider's id of the invoice, the refunded charge, or the credit note. */
  readonly id: string
  /** Number of the attempt, counted from 1, if a payment failed. */
  readonly attempt?: number | null
  /** When the provider retries, if a payment failed. */
  readonly nextAttemptAt?: Date | null
  /** Page on which the customer can confirm the payment. */
  readonly url?: string | null
  /** The amount that was due, if a payment failed that has no invoice at the provider. */
  readonly amount?: Money
}

/** The objects that an event is about. */
export interface EventSubject {
  /** Id of the subscription. `null` if there is none. */
  readonly subscriptionId: string | null
  /** Id of the customer. `null` if there is none. */
  readonly customerId: string | null
  /** Id of the dispute. Missing or `null` if there is none. */
  readonly disputeId?: string | null
  /** Whether the customer was deleted. */
  readonly customerDeleted: boolean
  /** Whether the customer's payment method may have changed. */
  readonly cardChanged: boolean
  /** Number of failed charges, if the event reports this number. `null` otherwise. */
  readonly failedCharges: number | null
  /**
   * The invoice, refund or credit note that the event is about. Missing or `null` if there is none.
   */
  readonly news?: EventObject | null
}
