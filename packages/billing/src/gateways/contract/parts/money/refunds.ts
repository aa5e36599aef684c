import type { Refund, RefundReason } from '../../../../invoices/refund.ts'
import type { Money } from '../../../../values/money.ts'

/** A charge, and what can be given back of it. */
export interface Refundable {
  /** The provider's id of the charge. */
  readonly charge: string
  /** What was charged. */
  readonly amount: Money
  /** What went back already. */
  readonly refunded: Money
  /** Whether a part can go back now, as of what is settling or settled. Before that it is the whole, or nothing. */
  readonly isRefundableInPart: boolean
  /** False where the whole, too, has to wait until then. Default true. */
  readonly isVoidable?: boolean
  /** The provider's own object, for `creditedOf`. */
  readonly raw?: unknown
}

/** Money to be given back. */
export interface NewRefund {
  /** Who gets it. */
  readonly customerId: string
  /** The provider's id of the charge. */
  readonly charge: string
  /** Null for all that is left. */
  readonly amount: Money | null
  /** Why; null for no reason given. */
  readonly reason: RefundReason | null
  /** The caller's or the operation's: the same key refunds once, however often it is sent. */
  readonly key: string
}

/** Money that goes back. */
export interface Refunds {
  /** By the id of a charge, of an invoice or of a hosted page; null when there is none, or it is somebody else's. */
  find(id: string, customerId: string): Promise<Refundable | null>
  /**
   * Returns how much of a charge went back other than by refunds, and can no longer be refunded: as credit for unused time, by a
   * credit note, in a dispute, or because a gift had paid for it. Optional: without this method nothing counts as credited.
   */
  creditedOf?(charge: Refundable): Promise<Money>
  /** Those of a charge, newest first. A charge that was taken back whole before it was settled is one. */
  list(charge: string): Promise<Refund[]>
  /** The one that was made under this key; null for none, and where the provider has no room for a key. */
  findByKey(charge: string, key: string): Promise<Refund | null>
  /**
   * A repeat with the same key gives the same refund. Throws RefundNotPossibleYet for what must be settled first,
   * and RefundRefused for everything else that the provider says no to.
   */
  create(refund: NewRefund): Promise<Refund>
}
