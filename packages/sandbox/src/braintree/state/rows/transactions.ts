import type { Day } from '../../wire/days.ts'
import type { AppliedModification, Descriptor } from './subscriptions.ts'
import type { Address, CustomerSnapshot, Instrument, ThreeDSecureInfo } from './vault.ts'

/** As the SDK spells it. A card settles within 12 hours of the clock once it is submitted, PayPal within one. */
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

/** One line of what was sold, for level 3 processing. */
export interface LineItem {
  /** What it is. */
  name: string
  /** `credit` is taken off. */
  kind: 'debit' | 'credit'
  /** For people. */
  description: string | null
  /** A decimal as it was written. */
  quantity: string
  /** A decimal as it was written. */
  unitAmount: string
  /** Minor units. */
  totalAmount: number
  /** Minor units. */
  unitTaxAmount: number | null
  /** Minor units. */
  discountAmount: number | null
  /** Minor units. */
  taxAmount: number | null
  /** `gallon` */
  unitOfMeasure: string | null
  /** The merchant's own. */
  productCode: string | null
  /** Of the kind of goods. */
  commodityCode: string | null
  /** Where it is shown. */
  url: string | null
  /** Its picture. */
  imageUrl: string | null
  /** The bar code. */
  upcCode: string | null
  /** `UPC-A` … */
  upcType: string | null
}

/** What a sale said to PayPal. */
export interface PayPalSale {
  /** Who is paid, by PayPal's id. */
  payeeId: string | null
  /** Who is paid, by e-mail. */
  payeeEmail: string | null
  /** As the call said. */
  customField: string | null
  /** What the payer is shown. */
  description: string | null
}

/** An authorization that was made larger or smaller. */
export interface AuthorizationAdjustment {
  /** Epoch milliseconds on the sandbox's clock. */
  timestamp: number
  /** Minor units more, or less. */
  amount: number
  /** The processor's code. */
  responseCode: string
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
  /** True when the method was put into the vault by this sale. */
  keptCard?: boolean
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
  /** `ground`, `electronic` … as the call said. */
  shippingMethod?: string | null
  /** Minor units inside `amount`. */
  discountAmount?: number | null
  /** Minor units inside `amount`. */
  shippingAmount?: number | null
  /** Minor units inside `amount`. */
  shippingTaxAmount?: number | null
  /** Minor units inside `amount`. */
  surchargeAmount?: number | null
  /** As the call said. */
  shipsFromPostalCode?: string | null
  /** What was sold. */
  lineItems?: LineItem[]
  /** With a PayPal account only. */
  paypal?: PayPalSale
  /** Of a card that is both, as in Brazil; null unless the call said. */
  accountType?: 'credit' | 'debit' | null
  /** As the call said. */
  foreignRetailer?: boolean
  /** The sales that settle parts of it, oldest first. */
  partialSettlementIds?: string[]
  /** The authorization that it settles a part of. */
  authorizedTransactionId?: string | null
  /** Of the nonce or the authentication it came with. */
  threeDSecure?: ThreeDSecureInfo
  /** Oldest first. */
  adjustments?: AuthorizationAdjustment[]
  /** True where fraud protection has looked at it. */
  hasRiskData?: boolean
  /** What the cardholder's bank has asked back, and what came of it. */
  dispute?: {
    /** `open`, `under_review`, `won`, `lost` and the like. */
    status: string
    /** A `retrieval` only asks for papers. */
    kind: 'chargeback' | 'retrieval' | 'pre_arbitration'
    /** Epoch milliseconds on the sandbox's clock. */
    openedAt: number
  }
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

export type DisputeState = NonNullable<TransactionRow['dispute']>
