import type { Day } from '../wire/days.ts'

// Rows are plain JSON: instants are epoch milliseconds, money integer minor units.

/** A customer in the vault. */
export interface CustomerRow {
  /** Chosen by the caller, or ten digits of ours. */
  id: string
  /** Null when it was not sent, as all that follows. */
  firstName: string | null
  /** The family name. */
  lastName: string | null
  /** Where they work, or what they are. */
  company: string | null
  /** Not checked beyond its length, and not unique. */
  email: string | null
  /** As it was sent. */
  phone: string | null
  /** As it was sent. */
  fax: string | null
  /** As it was sent. */
  website: string | null
  /** Values by API name; the names must exist in the settings. */
  customFields: Record<string, string>
  /** Epoch milliseconds on the sandbox's clock. */
  createdAt: number
  /** Epoch milliseconds on the sandbox's clock. */
  updatedAt: number
}

/** A customer as it was when a transaction was made; later changes do not reach it. */
export type CustomerSnapshot = Omit<
  CustomerRow,
  'id' | 'customFields' | 'createdAt' | 'updatedAt'
> & {
  /** Null when the customer was named in the sale and is not in the vault. */
  id: string | null
}

/** A billing or shipping address, as it was sent: one way to name the country does not fill in another. */
export interface Address {
  /** Of whoever lives there. */
  firstName: string | null
  /** Of whoever lives there. */
  lastName: string | null
  /** Of whoever lives there. */
  company: string | null
  /** Street and number. */
  streetAddress: string | null
  /** The second line, such as a flat. */
  extendedAddress: string | null
  /** The city. */
  locality: string | null
  /** The state or province. */
  region: string | null
  /** As it was sent. */
  postalCode: string | null
  /** In English. */
  countryName: string | null
  /** `US` */
  countryCodeAlpha2: string | null
  /** `USA` */
  countryCodeAlpha3: string | null
  /** `840` */
  countryCodeNumeric: string | null
  /** As it was sent. */
  phoneNumber: string | null
}

/** What is kept of a card. The number itself never is. */
export interface CardDetails {
  /** The first six digits. */
  bin: string
  /** The last four digits. */
  last4: string
  /** `Visa`, `MasterCard` … as Braintree spells it. */
  cardType: string
  /** `01` to `12`. */
  expirationMonth: string
  /** Four digits. */
  expirationYear: string
  /** As it was sent. */
  cardholderName: string | null
  /** Equal for equal numbers: what finds duplicates. */
  uniqueNumberIdentifier: string
}

/** A PayPal account that was paid with or kept. */
export interface PayPalDetails {
  /** The payer's. */
  email: string
  /** PayPal's own id of the payer. */
  payerId: string
  /** Null for an account that was allowed to pay once only. */
  billingAgreementId: string | null
}

/** What a charge is made to. */
export type Instrument =
  | {
      /** The SDK's `CreditCard`. */
      kind: 'credit_card'
      /** Its details, without the number. */
      card: CardDetails
    }
  | {
      /** The SDK's `PayPalAccount`. */
      kind: 'paypal_account'
      /** Its details. */
      paypal: PayPalDetails
    }

/** What the processor said about a card before it was kept. */
export interface VerificationRow {
  /** Ours, in Braintree's alphabet. */
  id: string
  /** `gateway_rejected` never reached the processor; `failed` found none. */
  status: 'verified' | 'processor_declined' | 'gateway_rejected' | 'failed'
  /** Minor units; 0 unless the call asked for more. */
  amount: number
  /** Of the merchant account. */
  currency: string
  /** The one it was asked for, or the default. */
  merchantAccountId: string
  /** The processor's code: `1000` is approved, `2000` and above is not. */
  responseCode: string
  /** `cvv`, `avs`, `fraud` … for `gateway_rejected`. */
  gatewayRejectionReason: string | null
  /** Epoch milliseconds on the sandbox's clock. */
  createdAt: number
}

/** A payment method in the vault. */
export interface PaymentMethodRow {
  /** What charges and subscriptions name it by. */
  token: string
  /** Whose vault it is in. */
  customerId: string
  /** The card or the PayPal account. */
  instrument: Instrument
  /** One per customer, as long as there are any. */
  isDefault: boolean
  /** A processor code or gateway rejection reason that every charge meets; null when it works. */
  alwaysFailsWith: string | null
  /** Null when none was sent. */
  billingAddress?: Address | null
  /** Newest first. */
  verifications: VerificationRow[]
  /** Epoch milliseconds on the sandbox's clock. */
  createdAt: number
  /** Epoch milliseconds on the sandbox's clock. */
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

/** A plan of the control panel. */
export interface PlanRow {
  /** What subscriptions name it by. */
  id: string
  /** For people. */
  name: string
  /** For people. */
  description: string | null
  /** Minor units for each cycle. */
  price: number
  /** Three letters, upper case. */
  currency: string
  /** Months from one cycle to the next. */
  billingFrequency: number
  /** 1 to 28, or 31 for the last day; null bills on the day the subscription begins. */
  billingDayOfMonth: number | null
  /** Null goes on until it is canceled. */
  numberOfBillingCycles: number | null
  /** Whether subscriptions begin with a trial. */
  trialPeriod: boolean
  /** How many units; null without a trial. */
  trialDuration: number | null
  /** Days or months; null without a trial. */
  trialDurationUnit: 'day' | 'month' | null
  /** The add-ons every subscription of the plan inherits. */
  addOnIds: string[]
  /** The discounts every subscription of the plan inherits. */
  discountIds: string[]
  /** Epoch milliseconds on the sandbox's clock. */
  createdAt: number
  /** Epoch milliseconds on the sandbox's clock. */
  updatedAt: number
}

/** An add-on or discount of the control panel. */
export interface ModificationRow {
  /** What plans and subscriptions name it by. */
  id: string
  /** An add-on is added to the price of a cycle, a discount taken off it. */
  kind: 'add_on' | 'discount'
  /** For people. */
  name: string
  /** For people. */
  description: string | null
  /** Minor units for each cycle and each of its quantity; never negative. */
  amount: number
  /** Three letters, upper case. */
  currency: string
  /** Null when it never expires. */
  numberOfBillingCycles: number | null
  /** True when no number of cycles is set. */
  neverExpires: boolean
  /** Epoch milliseconds on the sandbox's clock. */
  createdAt: number
  /** Epoch milliseconds on the sandbox's clock. */
  updatedAt: number
}

/** An add-on or discount as one subscription has it. */
export interface AppliedModification {
  /** That of the add-on or discount it was inherited from. */
  id: string
  /** For people. */
  name: string
  /** For people. */
  description: string | null
  /** Minor units for each cycle and each of `quantity`. */
  amount: number
  /** How many times `amount` counts. */
  quantity: number
  /** Null when it never expires. */
  numberOfBillingCycles: number | null
  /** True when no number of cycles is set. */
  neverExpires: boolean
  /** How many cycles it has counted in. */
  currentBillingCycle: number
  /** The subscription's cycle it last counted in. */
  countedInCycle: number | null
}

/** As the SDK spells it. `Pending` waits for its first billing date; the last two are final. */
export type SubscriptionStatus = 'Pending' | 'Active' | 'Past Due' | 'Canceled' | 'Expired'

/** What a subscription was like when its status was set. */
export interface SubscriptionStatusEvent {
  /** Epoch milliseconds on the sandbox's clock. */
  timestamp: number
  /** What it was set to. */
  status: SubscriptionStatus
  /** Minor units owed then. */
  balance: number
  /** Minor units for a cycle then. */
  price: number
  /** Its plan then. */
  planId: string
  /** A call, or time. */
  source: 'api' | 'recurring'
}

/** What the customer reads on the statement; null is the merchant's own. */
export interface Descriptor {
  /** Company and product, `company*product`. */
  name: string | null
  /** Shown beside the name. */
  phone: string | null
  /** Shown beside the name. */
  url: string | null
}

/** A subscription, in the state its last call or its last due day left it. */
export interface SubscriptionRow {
  /** Chosen by the caller, or six characters of ours. */
  id: string
  /** The plan it is on now. */
  planId: string
  /** Minor units for each cycle, before add-ons and discounts. */
  price: number
  /** Of the plan; it never changes. */
  currency: string
  /** Where its charges go. */
  merchantAccountId: string
  /** Who has it. */
  customerId: string
  /** What is charged. */
  paymentMethodToken: string
  /** Where it stands now. */
  status: SubscriptionStatus
  /** What is owed; negative is a credit that later cycles use up. */
  balance: number
  /** Months from one cycle to the next. */
  billingFrequency: number
  /** 1 to 28, or 31 for the last day of the month. */
  billingDayOfMonth: number
  /** The day of the first charge, after the trial. */
  firstBillingDate: Day
  /** The day of the next charge, or of its end. */
  nextBillingDate: Day
  /** Null until the first cycle begins. */
  billingPeriodStart: Day | null
  /** Null until the first cycle begins. */
  billingPeriodEnd: Day | null
  /** The last day that is paid for. */
  paidThrough: Day | null
  /** 0 during the trial. */
  currentBillingCycle: number
  /** Null when it never expires. */
  numberOfBillingCycles: number | null
  /** True when no number of cycles is set. */
  neverExpires: boolean
  /** Declined charges since the last one that went through. */
  failureCount: number
  /** The day of the first declined charge; null when nothing is owed. */
  pastDueSince: Day | null
  /** Automatic retries made since it went past due. */
  retriesMade: number
  /** The day of the next automatic retry. */
  retryOn: Day | null
  /** Whether it began with a trial. */
  trialPeriod: boolean
  /** How many units; null without a trial. */
  trialDuration: number | null
  /** Days or months; null without a trial. */
  trialDurationUnit: 'day' | 'month' | null
  /** What is added to the price. */
  addOns: AppliedModification[]
  /** What is taken off the price. */
  discounts: AppliedModification[]
  /** For the statements of its charges. */
  descriptor: Descriptor
  /** For the receipts that PayPal sends. */
  description: string | null
  /** Oldest first; responses show the newest first. */
  transactionIds: string[]
  /** Oldest first; responses show the newest first. */
  statusHistory: SubscriptionStatusEvent[]
  /** Epoch milliseconds on the sandbox's clock. */
  createdAt: number
  /** Epoch milliseconds on the sandbox's clock. */
  updatedAt: number
}

/** As the SDK spells it. What was submitted for settlement settles within 12 hours of the clock. */
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

/** What a transaction was like when its status was set. */
export interface TransactionStatusEvent {
  /** Epoch milliseconds on the sandbox's clock. */
  timestamp: number
  /** What it was set to. */
  status: TransactionStatus
  /** Minor units then. */
  amount: number
}

/** A sale or a refund, those that were declined too. */
export interface TransactionRow {
  /** Ours, in Braintree's alphabet. */
  id: string
  /** `credit` is a refund. */
  type: 'sale' | 'credit'
  /** Where it stands now. */
  status: TransactionStatus
  /** Minor units. */
  amount: number
  /** What the processor authorized, before a smaller amount was submitted. */
  authorizedAmount: number
  /** Of the merchant account. */
  currency: string
  /** Where the money goes. */
  merchantAccountId: string
  /** The merchant's own; equal ones within the duplicate window are rejected. */
  orderId: string | null
  /** Minor units inside `amount`. */
  taxAmount: number | null
  /** As the call said. */
  taxExempt: boolean
  /** As the call said. */
  purchaseOrderNumber: string | null
  /** As the call said. */
  channel: string | null
  /** `recurring`, `moto` … as the call named it. */
  source: string | null
  /** True for every charge of a subscription. */
  recurring: boolean
  /** The customer as it was then; without an id if it is not in the vault. */
  customer: CustomerSnapshot | null
  /** The stored method it was made to. */
  token: string | null
  /** What it was made to, as it was then. */
  instrument: Instrument
  /** Values by API name. */
  customFields: Record<string, string>
  /** The processor's code: `1000` is approved, `2000` and above is not. */
  responseCode: string
  /** The code of a refund's declined authorization that was captured all the same. */
  authorizationDecline?: string | null
  /** `duplicate`, `cvv`, `fraud` … for `gateway_rejected`. */
  gatewayRejectionReason: string | null
  /** The subscription's, for its charges. */
  planId: string | null
  /** The subscription it pays for. */
  subscriptionId: string | null
  /** Of the subscription's cycle that it paid for. */
  billingPeriodStart: Day | null
  /** Of the subscription's cycle that it paid for. */
  billingPeriodEnd: Day | null
  /** Those that counted in the cycle it paid for. */
  addOns: AppliedModification[]
  /** Those that counted in the cycle it paid for. */
  discounts: AppliedModification[]
  /** For the statement. */
  descriptor: Descriptor
  /** As the call said. */
  billing?: Address | null
  /** As the call said. */
  shipping?: Address | null
  /** Its refunds, oldest first. */
  refundIds: string[]
  /** The sale that a refund gives back. */
  refundedTransactionId: string | null
  /** Oldest first. */
  statusHistory: TransactionStatusEvent[]
  /** Epoch milliseconds on the sandbox's clock. */
  createdAt: number
  /** Epoch milliseconds on the sandbox's clock. */
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
