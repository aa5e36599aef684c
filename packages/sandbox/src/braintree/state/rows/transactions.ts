import type { CalendarDay } from '../../wire/days.ts'
import type { AppliedModification, StatementDescriptor } from './subscriptions.ts'
import type {
  BillingAddress,
  CustomerSnapshot,
  PaymentInstrument,
  ThreeDSecureInfo,
} from './vault.ts'

/**
 * Transaction status in the SDK's spelling. Once submitted for settlement, card payments settle
 * within 12 hours and PayPal payments within one hour.
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
  /** Time of the status change in epoch milliseconds. */
  timestamp: number
  /** The status after the change. */
  status: TransactionStatus
  /** Amount of the transaction after the change, in minor units. */
  amount: number
}

/** A line item of a sale, for level 3 processing. */
export interface LineItem {
  /** Name of the item. */
  name: string
  /** Whether the item is charged (`debit`) or deducted (`credit`). */
  kind: 'debit' | 'credit'
  /** Description of the item. */
  description: string | null
  /** Quantity as a decimal text, as it was sent. */
  quantity: string
  /** Price per unit as a decimal text, as it was sent. */
  unitAmount: string
  /** Total amount of the line item in minor units. */
  totalAmount: number
  /** Tax per unit in minor units. `null` if it was not sent. */
  unitTaxAmount: number | null
  /** Discount on the line item in minor units. `null` if it was not sent. */
  discountAmount: number | null
  /** Tax on the line item in minor units. `null` if it was not sent. */
  taxAmount: number | null
  /** Unit of measure, such as `gallon`. */
  unitOfMeasure: string | null
  /** The merchant's own code of the product. */
  productCode: string | null
  /** Code that classifies the goods. */
  commodityCode: string | null
  /** URL of the product. */
  url: string | null
  /** URL of the product's image. */
  imageUrl: string | null
  /** Bar code of the product (Universal Product Code). */
  upcCode: string | null
  /** Type of the bar code, such as `UPC-A`. */
  upcType: string | null
}

/** PayPal options that were sent with a sale. */
export interface PayPalSale {
  /** PayPal id of the payee, the account that receives the payment. */
  payeeId: string | null
  /** E-mail address of the payee, the account that receives the payment. */
  payeeEmail: string | null
  /** Value of PayPal's custom field that was sent with the sale. */
  customField: string | null
  /** Description of the sale that the payer sees at PayPal. */
  description: string | null
}

/** A change of the authorized amount of a transaction. */
export interface AuthorizationAdjustment {
  /** Time of the change in epoch milliseconds. */
  timestamp: number
  /** Difference from the previous authorized amount in minor units, negative for a reduction. */
  amount: number
  /** The processor's response code. */
  responseCode: string
}

/** A sale or refund as the sandbox stores it, including declined ones. */
export interface TransactionRow {
  /** Primary key: a generated id in Braintree's alphabet. */
  id: string
  /** Type of the transaction: a sale, or a `credit`, which is a refund. */
  type: 'sale' | 'credit'
  /** Current status of the transaction. */
  status: TransactionStatus
  /** Current amount of the transaction in minor units. */
  amount: number
  /**
   * Authorized amount in minor units. Differs from `amount` if a smaller amount was submitted for
   * settlement.
   */
  authorizedAmount: number
  /** Currency of the transaction's merchant account. */
  currency: string
  /** Id of the merchant account. */
  merchantAccountId: string
  /**
   * The merchant's order id. The duplicate check rejects a sale only if its order id is equal, too.
   */
  orderId: string | null
  /** Tax included in `amount`, in minor units. */
  taxAmount: number | null
  /** Whether the call declared the sale tax-exempt. */
  taxExempt: boolean
  /** Purchase order number that was sent with the sale. */
  purchaseOrderNumber: string | null
  /**
   * Value of the parameter `channel`, which names the shopping cart or partner that sent the sale.
   */
  channel: string | null
  /** Value of the parameter `transaction_source`, such as `recurring` or `moto`. */
  source: string | null
  /** Whether the transaction is a charge of a subscription. */
  recurring: boolean
  /**
   * The customer at the time of the transaction. Has no id if the customer is not in the vault.
   * `null` without a customer.
   */
  customer: CustomerSnapshot | null
  /** Token of the stored payment method. `null` if the payment method is not in the vault. */
  token: string | null
  /** Whether this sale stored the payment method in the vault. */
  keptCard?: boolean
  /** The card or PayPal account at the time of the transaction. */
  instrument: PaymentInstrument
  /** Custom fields that were sent with the sale, by API name. */
  customFields: Record<string, string>
  /**
   * The processor's response code: `1000` means approved, codes from `2000` mean declined or
   * failed.
   */
  responseCode: string
  /**
   * Response code of a soft decline. Set for a refund that was submitted although its authorization
   * was declined.
   */
  authorizationDecline?: string | null
  /**
   * Reason of the status `gateway_rejected`, such as `duplicate`, `cvv` or `fraud`. `null` for any
   * other status.
   */
  gatewayRejectionReason: string | null
  /** Id of the subscription's plan. `null` if the transaction does not pay for a subscription. */
  planId: string | null
  /** Id of the subscription that the transaction pays for. `null` if there is none. */
  subscriptionId: string | null
  /**
   * First day of the billing cycle that the transaction pays for. `null` without a subscription.
   */
  billingPeriodStart: CalendarDay | null
  /** Last day of the billing cycle that the transaction pays for. `null` without a subscription. */
  billingPeriodEnd: CalendarDay | null
  /** The subscription's add-ons that applied to the charged billing cycle. */
  addOns: AppliedModification[]
  /** The subscription's discounts that applied to the charged billing cycle. */
  discounts: AppliedModification[]
  /** Texts for the customer's bank statement. */
  descriptor: StatementDescriptor
  /** Billing address that was sent with the sale. */
  billing?: BillingAddress | null
  /** Shipping address that was sent with the sale. */
  shipping?: BillingAddress | null
  /** Shipping method that was sent with the sale, such as `ground` or `electronic`. */
  shippingMethod?: string | null
  /** Discount on the sale in minor units, for level 3 processing. */
  discountAmount?: number | null
  /** Shipping costs included in `amount`, in minor units. */
  shippingAmount?: number | null
  /** Shipping tax included in `amount`, in minor units. */
  shippingTaxAmount?: number | null
  /** Surcharge included in `amount`, in minor units. */
  surchargeAmount?: number | null
  /** Postal code from which the goods are sent. */
  shipsFromPostalCode?: string | null
  /** Line items of the sale. */
  lineItems?: LineItem[]
  /** PayPal options of the sale. Set for sales to PayPal accounts only. */
  paypal?: PayPalSale
  /**
   * Whether a card that works as a credit and as a debit card, as in Brazil, was charged as credit
   * or as debit. `null` if the call did not choose.
   */
  accountType?: 'credit' | 'debit' | null
  /** Whether the call declared the retailer as foreign. */
  foreignRetailer?: boolean
  /** Ids of the sales that settle parts of this authorization, oldest first. */
  partialSettlementIds?: string[]
  /** Id of the authorization that this sale partially settles. */
  authorizedTransactionId?: string | null
  /** Result of 3-D Secure, from the nonce or from the authentication id in the call. */
  threeDSecure?: ThreeDSecureInfo
  /** Changes of the authorized amount, oldest first. */
  adjustments?: AuthorizationAdjustment[]
  /** Whether fraud protection evaluated the transaction. */
  hasRiskData?: boolean
  /** The dispute that the cardholder's bank opened about the transaction. */
  dispute?: {
    /** Status such as `open`, `under_review`, `won` or `lost`. */
    status: string
    /** Kind of dispute. A `retrieval` only requests documents. */
    kind: 'chargeback' | 'retrieval' | 'pre_arbitration'
    /** Time at which the dispute was opened, in epoch milliseconds. */
    openedAt: number
  }
  /** Ids of the sale's refunds, oldest first. */
  refundIds: string[]
  /** Id of the sale that this refund belongs to. `null` if this is not a refund of a sale. */
  refundedTransactionId: string | null
  /** The transaction's earlier and current status, oldest first. */
  statusHistory: TransactionStatusEvent[]
  /** Creation time in epoch milliseconds. */
  createdAt: number
  /** Time of the last change in epoch milliseconds. */
  updatedAt: number
}

export type DisputeState = NonNullable<TransactionRow['dispute']>
