import type { Day } from '../../wire/days.ts'
import type { AppliedModification, Descriptor } from './subscriptions.ts'
import type { Address, CustomerSnapshot, Instrument, ThreeDSecureInfo } from './vault.ts'

/**
 * Transaction status in the SDK's spelling. Once submitted, card payments settle within 12 hours,
 * PayPal payments within one.
 */
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

/** An entry of a transaction's status history. */
export interface TransactionStatusEvent {
  /** Time of the change in epoch milliseconds. */
  timestamp: number
  /** The new status. */
  status: TransactionStatus
  /** Amount at that time in minor units. */
  amount: number
}

/** A line item for level 3 processing. */
export interface LineItem {
  /** Name of the item. */
  name: string
  /** Whether the item is charged (`debit`) or deducted (`credit`). */
  kind: 'debit' | 'credit'
  /** Description of the item. */
  description: string | null
  /** Quantity as a decimal text, as it was sent. */
  quantity: string
  /** Price of a unit as a decimal text, as it was sent. */
  unitAmount: string
  /** Total in minor units. */
  totalAmount: number
  /** Tax per unit in minor units. */
  unitTaxAmount: number | null
  /** Discount in minor units. */
  discountAmount: number | null
  /** Tax in minor units. */
  taxAmount: number | null
  /** Unit of measure, such as `gallon`. */
  unitOfMeasure: string | null
  /** The merchant's product code. */
  productCode: string | null
  /** Code that classifies the goods. */
  commodityCode: string | null
  /** URL of the product. */
  url: string | null
  /** URL of the product's image. */
  imageUrl: string | null
  /** Bar code. */
  upcCode: string | null
  /** Type of the bar code, such as `UPC-A`. */
  upcType: string | null
}

/** PayPal options of a sale. */
export interface PayPalSale {
  /** PayPal id of the payee. */
  payeeId: string | null
  /** E-mail address of the payee. */
  payeeEmail: string | null
  /** Value of PayPal's custom field, from the call. */
  customField: string | null
  /** Description that the payer sees. */
  description: string | null
}

/** A change of an authorized amount. */
export interface AuthorizationAdjustment {
  /** Time of the change in epoch milliseconds. */
  timestamp: number
  /** Difference in minor units, negative for a reduction. */
  amount: number
  /** The processor's response code. */
  responseCode: string
}

/** A sale or refund, including declined ones. */
export interface TransactionRow {
  /** Primary key: a generated id in Braintree's alphabet. */
  id: string
  /** Type of the transaction. `credit` is a refund. */
  type: 'sale' | 'credit'
  /** Current status. */
  status: TransactionStatus
  /** Amount in minor units. */
  amount: number
  /** Authorized amount in minor units, before a smaller amount was submitted. */
  authorizedAmount: number
  /** Currency of the merchant account. */
  currency: string
  /** Id of the merchant account. */
  merchantAccountId: string
  /** The merchant's order id. Equal sales within the duplicate window are rejected. */
  orderId: string | null
  /** Tax included in `amount`, in minor units. */
  taxAmount: number | null
  /** Whether the sale is tax-exempt, from the call. */
  taxExempt: boolean
  /** Purchase order number from the call. */
  purchaseOrderNumber: string | null
  /** Channel from the call. */
  channel: string | null
  /** Source of the transaction from the call, such as `recurring` or `moto`. */
  source: string | null
  /** Whether it is a charge of a subscription. */
  recurring: boolean
  /**
   * The customer at the time of the transaction. Without an id if the customer is not in the vault.
   */
  customer: CustomerSnapshot | null
  /** Token of the stored payment method. `null` if it is not in the vault. */
  token: string | null
  /** Whether this sale stored the payment method in the vault. */
  keptCard?: boolean
  /** The payment method at the time of the transaction. */
  instrument: Instrument
  /** Custom fields by API name. */
  customFields: Record<string, string>
  /** The processor's response code: `1000` is approved, `2000` and above is not. */
  responseCode: string
  /** Response code of a refund's soft decline. The refund was submitted nevertheless. */
  authorizationDecline?: string | null
  /** Reason for `gateway_rejected`, such as `duplicate`, `cvv` or `fraud`. */
  gatewayRejectionReason: string | null
  /** Id of the subscription's plan. */
  planId: string | null
  /** Id of the subscription that the transaction pays for. */
  subscriptionId: string | null
  /** First day of the subscription's billing cycle. */
  billingPeriodStart: Day | null
  /** Last day of the subscription's billing cycle. */
  billingPeriodEnd: Day | null
  /** The subscription's add-ons that applied to the cycle. */
  addOns: AppliedModification[]
  /** The subscription's discounts that applied to the cycle. */
  discounts: AppliedModification[]
  /** Texts for the bank statement. */
  descriptor: Descriptor
  /** Billing address from the call. */
  billing?: Address | null
  /** Shipping address from the call. */
  shipping?: Address | null
  /** Shipping method from the call, such as `ground` or `electronic`. */
  shippingMethod?: string | null
  /** Discount in minor units, for level 3 processing. */
  discountAmount?: number | null
  /** Shipping costs included in `amount`, in minor units. */
  shippingAmount?: number | null
  /** Shipping tax included in `amount`, in minor units. */
  shippingTaxAmount?: number | null
  /** Surcharge included in `amount`, in minor units. */
  surchargeAmount?: number | null
  /** Postal code of the sender, from the call. */
  shipsFromPostalCode?: string | null
  /** Line items. */
  lineItems?: LineItem[]
  /** PayPal options. Set for sales to PayPal accounts only. */
  paypal?: PayPalSale
  /** Account type of a combined card, as in Brazil. `null` unless the call set it. */
  accountType?: 'credit' | 'debit' | null
  /** Whether the retailer is foreign, from the call. */
  foreignRetailer?: boolean
  /** Ids of the sales that settle parts of it, oldest first. */
  partialSettlementIds?: string[]
  /** Id of the authorization that it settles a part of. */
  authorizedTransactionId?: string | null
  /** Result of 3-D Secure from the nonce or authentication. */
  threeDSecure?: ThreeDSecureInfo
  /** Changes of the authorized amount, oldest first. */
  adjustments?: AuthorizationAdjustment[]
  /** Whether fraud protection evaluated the transaction. */
  hasRiskData?: boolean
  /** Dispute opened by the cardholder's bank, and its state. */
  dispute?: {
    /** Status such as `open`, `under_review`, `won` or `lost`. */
    status: string
    /** Kind of dispute. A `retrieval` only requests documents. */
    kind: 'chargeback' | 'retrieval' | 'pre_arbitration'
    /** Time of the dispute's opening in epoch milliseconds. */
    openedAt: number
  }
  /** Ids of its refunds, oldest first. */
  refundIds: string[]
  /** Id of the sale that a refund belongs to. */
  refundedTransactionId: string | null
  /** Status history, oldest first. */
  statusHistory: TransactionStatusEvent[]
  /** Creation time in epoch milliseconds. */
  createdAt: number
  /** Time of the last change in epoch milliseconds. */
  updatedAt: number
}

export type DisputeState = NonNullable<TransactionRow['dispute']>
