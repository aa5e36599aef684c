import type { Money } from '../../../../values/money.ts'

/** Why money goes back; null for no reason given. */
export type RefundReason = 'duplicate' | 'fraudulent' | 'requested_by_customer'

/** A charge, and what can be given back of it. */
export interface Refundable {
  /** The provider's id of the charge. */
  readonly charge: string
  /** What was charged. */
  readonly amount: Money
  /** What went back already. */
  readonly refunded: Money
  /** A part can go back only once the charge is settled; the whole at any time. */
  readonly isSettled: boolean
}

/** Money to be given back. */
export interface NewRefund {
  /** Who gets it. */
  readonly customerId: string
  /** The provider's id of the charge. */
  readonly charge: string
  /** Null for all that is left. */
  readonly amount: Money | null
  /** Why. */
  readonly reason: RefundReason | null
  /** The caller's or the operation's: the same key refunds once, however often it is sent. */
  readonly key: string
}

/** A provider's refund in our words. */
export interface ProviderRefund {
  /** The provider's id. */
  readonly id: string
  /** The provider's id of the charge. */
  readonly charge: string
  /** What goes back. */
  readonly amount: Money
  /** `voided`: the charge was taken back before it was settled. */
  readonly status: 'succeeded' | 'pending' | 'failed' | 'voided'
  /** Why. */
  readonly reason: RefundReason | null
  /** The provider's own object. */
  readonly raw: unknown
}

/** Money that goes back. */
export interface Refunds {
  /** By the id of a charge or of an invoice; null when there is none, or it is somebody else's. */
  find(id: string, customerId: string): Promise<Refundable | null>
  /** A repeat with the same key gives the same refund. */
  create(refund: NewRefund): Promise<ProviderRefund>
}
