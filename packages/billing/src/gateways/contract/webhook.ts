export interface RawWebhook {
  readonly body: string
  header(name: string): string | null
}

export interface VerifiedEvent {
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
  readonly subscriptionId: string | null
  readonly customerId: string | null
  /** The customer itself is gone. */
  readonly customerDeleted: boolean
  /** The customer's card may have changed. */
  readonly cardChanged: boolean
  /** How often the charge has failed, in an event that tells of it. */
  readonly failedCharges: number | null
}
