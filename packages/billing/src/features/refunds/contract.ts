import type { Money } from '../../core/values/money.ts'
import type { Refund, RefundReason } from './refund.ts'

/** A charge, and how much of it can still be refunded. */
export interface RefundablePayment {
  /** The provider's id of the charge. */
  readonly charge: string
  /** The amount that was charged. */
  readonly amount: Money
  /** The amount that was refunded so far. */
  readonly refunded: Money
  /**
   * Whether a part of the charge can be refunded now, because the charge is settled or settling.
   * Until then, only the whole charge can be voided.
   */
  readonly isRefundableInPart: boolean
  /**
   * Whether the whole charge can be voided before it is settled.
   * @default true
   */
  readonly isVoidable?: boolean
  /** The charge as the provider's SDK returned it, which `creditedOf()` needs. */
  readonly raw?: unknown
}

/** A refund to be made. */
export interface NewRefund {
  /** The provider's id of the customer who receives the money. */
  readonly customerId: string
  /** The provider's id of the charge. */
  readonly charge: string
  /** The amount to refund. `null` refunds all that is left. */
  readonly amount: Money | null
  /** The reason. `null` if none was given. */
  readonly reason: RefundReason | null
  /**
   * The caller's idempotency key or, if there is none, the id of our stored operation. Requests
   * with the same key refund once.
   */
  readonly key: string
}

/** Gateway interface to refunds of charges. */
export interface PaymentRefunds {
  /**
   * Finds a charge by its own id or by the id of an invoice or hosted page. `null` if there is
   * none, or if it belongs to another customer.
   */
  find(id: string, customerId: string): Promise<RefundablePayment | null>
  /**
   * Returns how much of a charge can no longer be refunded for a reason other than a refund: it was
   * credited for unused time or by a credit note, lost in a dispute, or paid for by a gift.
   * Optional: without this method, nothing counts as credited.
   */
  creditedOf?(charge: RefundablePayment): Promise<Money>
  /**
   * Lists the refunds of a charge, newest first. A charge that was voided before it was settled
   * counts as one refund.
   */
  list(charge: string): Promise<Refund[]>
  /**
   * Finds the refund that was made with this idempotency key. `null` if there is none, or if the
   * provider could not store the key.
   */
  findByKey(charge: string, key: string): Promise<Refund | null>
  /**
   * Refunds a charge. A repeated call with the same key returns the same refund.
   * @throws {RefundNotPossibleYet} if the charge must be settled first.
   * @throws {RefundRefused} if the provider rejects the refund for any other reason.
   */
  create(refund: NewRefund): Promise<Refund>
}

declare module '../../providers/gateway-parts.ts' {
  interface GatewayParts {
    /** Gateway interface to refunds of charges. */
    readonly refunds: PaymentRefunds
  }

  interface ReadOnlyMethods {
    readonly refunds: 'find' | 'list' | 'findByKey'
  }
}
