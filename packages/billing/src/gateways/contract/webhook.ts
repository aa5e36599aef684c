import type { Money } from '../../values/money.ts'

/** A webhook as it arrived. */
export interface RawWebhook {
  /** The bytes that were signed, as text. */
  readonly body: string
  /** A header by its name, in any case. */
  header(name: string): string | null
}

/** An event whose signature was right. */
export interface VerifiedEvent {
  /** The provider's id; a repeat has the same one. */
  readonly id: string
  /** `invoice.paid`, `subscription_canceled`. */
  readonly type: string
  /** What is stored and can be read again by `readEvent`. */
  readonly payload: string
  /** Another mode or account than ours: kept, without effect. */
  readonly foreign: boolean
}

/** What an event tells that is in no row of ours. It is read again by its id before anybody is told. */
export interface ProviderNews {
  /** What happened. */
  readonly type:
    | 'invoice.paid'
    | 'invoice.payment_failed'
    | 'invoice.action_required'
    | 'invoice.voided'
    | 'refund.created'
    | 'credit_note.created'
  /** The provider's id of the invoice, of the charge that is refunded, or of the credit note. */
  readonly id: string
  /** Of a failed payment: which attempt it was, counted from 1. */
  readonly attempt?: number | null
  /** Of a failed payment: when the provider tries again. */
  readonly nextAttemptAt?: Date | null
  /** Where the customer can confirm the payment. */
  readonly url?: string | null
  /** Of a failed payment that is no invoice at the provider: what was to be paid. */
  readonly amount?: Money
}

/** What an event is about. */
export interface EventSubject {
  /** The subscription it is about; null for none. */
  readonly subscriptionId: string | null
  /** The customer it is about; null for none. */
  readonly customerId: string | null
  /** The dispute it is about; left out or null for none. Whose it is, is read again. */
  readonly disputeId?: string | null
  /** The customer itself is gone. */
  readonly customerDeleted: boolean
  /** The customer's card may have changed. */
  readonly cardChanged: boolean
  /** How often the charge has failed, in an event that tells of it. */
  readonly failedCharges: number | null
  /** What else it tells; missing or null for nothing. */
  readonly news?: ProviderNews | null
}
