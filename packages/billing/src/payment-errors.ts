import { ProviderError, type ProviderFailure } from './errors.ts'
import type { Invoice } from './invoices/invoice.ts'
import type { PendingPayment } from './values/confirmation.ts'

/** The customer's bank or the provider declined the payment. Nothing was charged. */
export class PaymentFailed extends ProviderError {
  readonly code = 'payment_failed'
  override readonly status = 402
  /** Why, in the bank's words: `insufficient_funds`, `Do Not Honor`. */
  readonly declineCode: string | null
  /** The invoice that was not paid, where there is one. While it is open, `invoice.pay()` tries it again. */
  invoice: Invoice | null = null

  constructor(message: string, failure: ProviderFailure & { readonly declineCode: string | null }) {
    super(message, failure)
    this.declineCode = failure.declineCode
  }
}

/**
 * The customer must confirm the payment (3-D Secure). A new subscription is stored, but not `subscribed`; a change of one
 * that runs is made once they have.
 */
export class PaymentActionRequired extends ProviderError {
  readonly code = 'payment_action_required'
  override readonly status = 402
  /** What the customer has to confirm at their bank. */
  readonly payment: PendingPayment
  /** The invoice that was not paid, where there is one. While it is open, `invoice.pay()` tries it again. */
  invoice: Invoice | null = null

  constructor(message: string, failure: ProviderFailure & { readonly payment: PendingPayment }) {
    super(message, failure)
    this.payment = failure.payment
  }
}
