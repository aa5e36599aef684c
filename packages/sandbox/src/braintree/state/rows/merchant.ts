// Rows are plain JSON: times are epoch milliseconds, amounts are integers in minor units.

export interface MerchantAccountRow {
  id: string
  currency: string
  isDefault: boolean
  /** Whether `adjustAuthorization` is supported. */
  adjustsAuthorizations?: boolean
  /** Whether `updateDetails` is supported. */
  updatesDetails?: boolean
  /** Whether a sale can be refunded while it is settling. */
  refundsSettling?: boolean
}

/** First use of an `api_request_key`. */
export interface RequestKeyRow {
  request: string
  transactionId: string
  usedAt: number
}

export interface WebhookRow {
  url: string
}

/** Settings of the control panel. */
export interface SettingsRow {
  /**
   * Days between the attempts to charge a past due subscription. Braintree offers up to two
   * retries.
   */
  retryAfterDays: number[]
  /**
   * After the last retry: cancel the subscription, or keep it past due and charge the balance with
   * each new cycle.
   */
  afterRetries: 'cancel' | 'keep-past-due'
  /** Default of the option `prorate_charges`. */
  prorate: boolean
  /**
   * Window in seconds in which an equal sale is rejected as a duplicate. `0` disables the check.
   */
  duplicateWindowSeconds: number
  /** API names of the custom fields. */
  customFields: string[]
  /** Whether credits without a sale are allowed. New merchants must request this from Braintree. */
  credits: boolean
  /**
   * Whether Fraud Protection Advanced is enabled: transactions and verifications contain its
   * decision.
   */
  fraudProtection: boolean
  /**
   * Whether `transaction_settled` is sent for all transactions. Braintree sends it for bank debits
   * only.
   */
  notifySettlement: boolean
  /** Whether pages can use 3-D Secure. */
  threeDSecure: boolean
  /** Whether pages can use PayPal. */
  paypal: boolean
  /** Details that pages must request with the card, because rules of the merchant check them. */
  challenges: Array<'cvv' | 'postal_code'>
}
