// Rows are plain JSON: instants are epoch milliseconds, money integer minor units.

export interface MerchantAccountRow {
  id: string
  currency: string
  isDefault: boolean
  /** Whether an authorization can be made larger or smaller there. */
  adjustsAuthorizations?: boolean
  /** Whether a sale can be changed there before it settles. */
  updatesDetails?: boolean
  /** Whether a sale can be given back there while it settles. */
  refundsSettling?: boolean
}

/** What an `api_request_key` was first used for. */
export interface RequestKeyRow {
  request: string
  transactionId: string
  usedAt: number
}

export interface WebhookRow {
  url: string
}

/** The control panel's choices. */
export interface SettingsRow {
  /** Days from one failed attempt to the next; Braintree offers up to two retries. */
  retryAfterDays: number[]
  /** After the last retry: end the subscription, or try once a cycle with what is owed. */
  afterRetries: 'cancel' | 'keep-past-due'
  /** What `prorate_charges` is when a call does not say. */
  prorate: boolean
  /** Equal sales within this many seconds are rejected; 0 switches the check off. */
  duplicateWindowSeconds: number
  /** Custom fields that exist, by their API names. */
  customFields: string[]
  /** Whether money can be sent without a sale, which new merchants have to ask for. */
  credits: boolean
  /** Fraud Protection Advanced: transactions and verifications tell what it thinks of them. */
  fraudProtection: boolean
  /** Braintree sends `transaction_settled` for bank debits only; true sends it for all. */
  notifySettlement: boolean
  /** Whether pages can have a card verified by 3-D Secure. */
  threeDSecure: boolean
  /** Whether pages can ask for a PayPal account. */
  paypal: boolean
  /** Details that pages must ask for beside the card, because rules of the merchant check them. */
  challenges: Array<'cvv' | 'postal_code'>
}
