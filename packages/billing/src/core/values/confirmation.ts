/** A payment that the customer has to confirm with their bank. */
export interface PendingPayment {
  /** Id of Stripe's payment intent or setup intent. */
  readonly id: string
  /** Secret for the provider's script in the browser, which starts the confirmation. */
  readonly clientSecret: string
}

/** A payment, or a card for future payments, that the customer has to confirm with their bank. */
export interface PendingConfirmation extends PendingPayment {
  /** `setup`: a card for future charges. `payment`: an open payment. */
  readonly kind: 'setup' | 'payment'
}
