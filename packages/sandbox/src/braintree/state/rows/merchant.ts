// Rows are plain JSON: times are epoch milliseconds, amounts are integers in minor units.

export interface MerchantAccountRow {
  id: string
  currency: string
  isDefault: boolean
  /** Whether the merchant account supports `transaction.adjustAuthorization`. */
  adjustsAuthorizations?: boolean
  /** Whether the merchant account supports `transaction.updateDetails`. */
  updatesDetails?: boolean
  /** Whether the merchant account can refund a sale that is still settling. */
  refundsSettling?: boolean
}

/** The first request with an `api_request_key`, and the transaction it created. */
export interface RequestKeyRow {
  request: string
  transactionId: string
  usedAt: number
}

export interface WebhookRow {
  url: string
}

/** Settings of a merchant in Braintree's control panel. */
export interface SettingsRow {
  /**
   * Days between the attempts to charge a past due subscription. Braintree offers up to two
   * retries.
   */
  retryAfterDays: number[]
  /**
   * Action after the last retry of a past due subscription: `cancel` cancels the subscription;
   * `keep-past-due` keeps it past due and charges the balance in each new cycle.
   */
  afterRetries: 'cancel' | 'keep-past-due'
  /** Default of the option `prorate_charges` of subscription updates. */
  prorate: boolean
  /**
   * Window in seconds in which an equal sale is rejected as a duplicate. `0` disables the check.
   */
  duplicateWindowSeconds: number
  /** API names of the custom fields that calls may send. */
  customFields: string[]
  /**
   * Whether the merchant may pay out credits without a sale. At Braintree, merchants must request
   * this permission.
   */
  credits: boolean
  /**
   * Whether Fraud Protection Advanced is enabled. If so, transactions and verifications contain its
   * decision.
   */
  fraudProtection: boolean
  /**
   * Whether `transaction_settled` is sent for all transactions. Braintree sends it for bank debits
   * only.
   */
  notifySettlement: boolean
  /** Whether pages can verify cards with 3-D Secure. */
  threeDSecure: boolean
  /** Whether pages can accept PayPal accounts. */
  paypal: boolean
  /** Card details that pages must request, because the merchant's rules check them. */
  challenges: Array<'cvv' | 'postal_code'>
}
