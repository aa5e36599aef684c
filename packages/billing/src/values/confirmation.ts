/** A payment that waits for the customer's bank. */
export interface PendingPayment {
  /** The payment or setup intent. */
  readonly id: string
  /** For the provider's script in the browser, which asks the customer. */
  readonly clientSecret: string
}

/** What waits for the customer to confirm it. */
export interface PendingConfirmation extends PendingPayment {
  /** `setup`: a card, for charges to come. `payment`: a bill that is open. */
  readonly kind: 'setup' | 'payment'
}
