import type { PendingPayment } from '../values/confirmation.ts'
import { defineError, ProviderError, type ProviderFailure } from './errors.ts'

/** The customer's bank or the provider declined the payment. Nothing was charged. */
export class PaymentFailed extends defineError('payment_failed', ProviderError) {
  /**
   * The bank's reason for declining the payment, such as `insufficient_funds` or `Do Not Honor`.
   * `null` if the bank gave no reason.
   */
  readonly declineCode: string | null

  constructor(message: string, failure: ProviderFailure & { readonly declineCode: string | null }) {
    super(message, failure)
    this.declineCode = failure.declineCode
    this.invoice = null
  }
}

/**
 * The customer must confirm the payment with their bank (3-D Secure). A new subscription is stored
 * but not yet `subscribed()`; a change of a running subscription takes effect after the
 * confirmation.
 */
export class PaymentActionRequired extends defineError('payment_action_required', ProviderError) {
  /** The payment that the customer has to confirm. */
  readonly payment: PendingPayment

  constructor(message: string, failure: ProviderFailure & { readonly payment: PendingPayment }) {
    super(message, failure)
    this.payment = failure.payment
    this.invoice = null
  }
}
