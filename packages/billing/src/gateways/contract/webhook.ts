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
}
