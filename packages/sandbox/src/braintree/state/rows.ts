import type { Day } from '../wire/days.ts'

// Rows are plain JSON: instants are epoch milliseconds, money integer minor units.

export interface CustomerRow {
  id: string
  firstName: string | null
  lastName: string | null
  company: string | null
  email: string | null
  phone: string | null
  fax: string | null
  website: string | null
  customFields: Record<string, string>
  createdAt: number
  updatedAt: number
}

export type CustomerSnapshot = Omit<
  CustomerRow,
  'id' | 'customFields' | 'createdAt' | 'updatedAt'
> & { id: string | null }

export interface Address {
  firstName: string | null
  lastName: string | null
  company: string | null
  streetAddress: string | null
  extendedAddress: string | null
  locality: string | null
  region: string | null
  postalCode: string | null
  countryName: string | null
  countryCodeAlpha2: string | null
  countryCodeAlpha3: string | null
  countryCodeNumeric: string | null
  phoneNumber: string | null
}

export interface CardDetails {
  bin: string
  last4: string
  cardType: string
  expirationMonth: string
  expirationYear: string
  cardholderName: string | null
  /** Equal for equal numbers: what finds duplicates. */
  uniqueNumberIdentifier: string
}

export interface PayPalDetails {
  email: string
  payerId: string
  billingAgreementId: string | null
}

export type Instrument =
  | { kind: 'credit_card'; card: CardDetails }
  | { kind: 'paypal_account'; paypal: PayPalDetails }

export interface VerificationRow {
  id: string
  status: 'verified' | 'processor_declined' | 'gateway_rejected' | 'failed'
  amount: number
  currency: string
  merchantAccountId: string
  responseCode: string
  gatewayRejectionReason: string | null
  createdAt: number
}

export interface PaymentMethodRow {
  token: string
  customerId: string
  instrument: Instrument
  isDefault: boolean
  /** A processor code or gateway rejection reason that every charge meets; null when it works. */
  alwaysFailsWith: string | null
  billingAddress?: Address | null
  verifications: VerificationRow[]
  createdAt: number
  updatedAt: number
}

/** A nonce made for one use; the fixed `fake-…` nonces are not rows. */
export interface NonceRow {
  nonce: string
  instrument: Instrument
  alwaysFailsWith: string | null
  /** Whose vault it was made from or for. */
  customerId: string | null
  /** The stored method it stands for, if it was made from one. */
  token: string | null
  consumed: boolean
}

export interface MerchantAccountRow {
  id: string
  currency: string
  isDefault: boolean
}

export interface PlanRow {
  id: string
  name: string
  description: string | null
  price: number
  currency: string
  billingFrequency: number
  billingDayOfMonth: number | null
  numberOfBillingCycles: number | null
  trialPeriod: boolean
  trialDuration: number | null
  trialDurationUnit: 'day' | 'month' | null
  addOnIds: string[]
  discountIds: string[]
  createdAt: number
  updatedAt: number
}

/** An add-on or discount of the control panel. */
export interface ModificationRow {
  id: string
  kind: 'add_on' | 'discount'
  name: string
  description: string | null
  amount: number
  currency: string
  numberOfBillingCycles: number | null
  neverExpires: boolean
  createdAt: number
  updatedAt: number
}

/** An add-on or discount as one subscription has it. */
export interface AppliedModification {
  id: string
  name: string
  description: string | null
  amount: number
  quantity: number
  numberOfBillingCycles: number | null
  neverExpires: boolean
  /** How many cycles it has counted in. */
  currentBillingCycle: number
  /** The subscription's cycle it last counted in. */
  countedInCycle: number | null
}

export type SubscriptionStatus = 'Pending' | 'Active' | 'Past Due' | 'Canceled' | 'Expired'

export interface SubscriptionStatusEvent {
  timestamp: number
  status: SubscriptionStatus
  balance: number
  price: number
  planId: string
  source: 'api' | 'recurring'
}

export interface Descriptor {
  name: string | null
  phone: string | null
  url: string | null
}

export interface SubscriptionRow {
  id: string
  planId: string
  price: number
  currency: string
  merchantAccountId: string
  customerId: string
  paymentMethodToken: string
  status: SubscriptionStatus
  /** What is owed; negative is a credit that later cycles use up. */
  balance: number
  billingFrequency: number
  billingDayOfMonth: number
  firstBillingDate: Day
  nextBillingDate: Day
  /** Null until the first cycle begins. */
  billingPeriodStart: Day | null
  billingPeriodEnd: Day | null
  paidThrough: Day | null
  currentBillingCycle: number
  numberOfBillingCycles: number | null
  neverExpires: boolean
  failureCount: number
  pastDueSince: Day | null
  /** Automatic retries made since it went past due. */
  retriesMade: number
  retryOn: Day | null
  trialPeriod: boolean
  trialDuration: number | null
  trialDurationUnit: 'day' | 'month' | null
  addOns: AppliedModification[]
  discounts: AppliedModification[]
  descriptor: Descriptor
  description: string | null
  /** Oldest first; replies show the newest first. */
  transactionIds: string[]
  statusHistory: SubscriptionStatusEvent[]
  createdAt: number
  updatedAt: number
}

export type TransactionStatus =
  | 'authorized'
  | 'authorization_expired'
  | 'submitted_for_settlement'
  | 'settling'
  | 'settlement_pending'
  | 'settlement_confirmed'
  | 'settled'
  | 'settlement_declined'
  | 'processor_declined'
  | 'gateway_rejected'
  | 'failed'
  | 'voided'

export interface TransactionRow {
  id: string
  type: 'sale' | 'credit'
  status: TransactionStatus
  amount: number
  /** What the processor authorized, before a smaller amount was submitted. */
  authorizedAmount: number
  currency: string
  merchantAccountId: string
  orderId: string | null
  taxAmount: number | null
  taxExempt: boolean
  purchaseOrderNumber: string | null
  channel: string | null
  source: string | null
  recurring: boolean
  /** The customer as it was then; without an id if it is not in the vault. */
  customer: CustomerSnapshot | null
  token: string | null
  instrument: Instrument
  customFields: Record<string, string>
  responseCode: string
  /** The code of a refund's declined authorization that was captured all the same. */
  authorizationDecline?: string | null
  gatewayRejectionReason: string | null
  planId: string | null
  subscriptionId: string | null
  billingPeriodStart: Day | null
  billingPeriodEnd: Day | null
  addOns: AppliedModification[]
  discounts: AppliedModification[]
  descriptor: Descriptor
  billing?: Address | null
  shipping?: Address | null
  refundIds: string[]
  refundedTransactionId: string | null
  statusHistory: Array<{ timestamp: number; status: TransactionStatus; amount: number }>
  createdAt: number
  updatedAt: number
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
  /** Braintree sends `transaction_settled` for bank debits only; true sends it for all. */
  notifySettlement: boolean
}
