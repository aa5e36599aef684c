import type { Day } from '../../wire/days.ts'

/** A plan of the control panel. */
export interface PlanRow {
  /** Primary key: the plan's id. */
  id: string
  /** Name of the plan. */
  name: string
  /** Description of the plan. */
  description: string | null
  /** Price of a billing cycle in minor units. */
  price: number
  /** Currency: three upper-case letters. */
  currency: string
  /** Months between billing dates. */
  billingFrequency: number
  /**
   * Day of the month for billing: 1–28, or 31 for the last day. `null` bills on the day the
   * subscription starts.
   */
  billingDayOfMonth: number | null
  /** Number of billing cycles. `null` renews until the subscription is canceled. */
  numberOfBillingCycles: number | null
  /** Whether subscriptions start with a trial. */
  trialPeriod: boolean
  /** Length of the trial in `trialDurationUnit`s. `null` without a trial. */
  trialDuration: number | null
  /** Unit of `trialDuration`. `null` without a trial. */
  trialDurationUnit: 'day' | 'month' | null
  /** Ids of the add-ons that every subscription inherits. */
  addOnIds: string[]
  /** Ids of the discounts that every subscription inherits. */
  discountIds: string[]
  /** Creation time in epoch milliseconds. */
  createdAt: number
  /** Time of the last change in epoch milliseconds. */
  updatedAt: number
}

/** An add-on or discount of the control panel. */
export interface ModificationRow {
  /** Primary key: the id of the add-on or discount. */
  id: string
  /** Whether the amount is added to the price or deducted from it. */
  kind: 'add_on' | 'discount'
  /** Name of the add-on or discount. */
  name: string
  /** Description of the add-on or discount. */
  description: string | null
  /** Amount per unit and billing cycle in minor units, never negative. */
  amount: number
  /** Currency: three upper-case letters. */
  currency: string
  /** Number of billing cycles it applies to. `null` if it never expires. */
  numberOfBillingCycles: number | null
  /** Whether it applies to all billing cycles. */
  neverExpires: boolean
  /** Creation time in epoch milliseconds. */
  createdAt: number
  /** Time of the last change in epoch milliseconds. */
  updatedAt: number
}

/** An add-on or discount of a subscription. */
export interface AppliedModification {
  /** Id of the add-on or discount of the control panel. */
  id: string
  /** Name of the add-on or discount. */
  name: string
  /** Description of the add-on or discount. */
  description: string | null
  /** Amount per unit and billing cycle in minor units. */
  amount: number
  /** Number of units. */
  quantity: number
  /** Number of billing cycles it applies to. `null` if it never expires. */
  numberOfBillingCycles: number | null
  /** Whether it applies to all billing cycles. */
  neverExpires: boolean
  /** Number of billing cycles it has applied to so far. */
  currentBillingCycle: number
  /** Last billing cycle it applied to. */
  countedInCycle: number | null
}

/**
 * Subscription status in the SDK's spelling. `Pending` waits for the first billing date; `Canceled`
 * and `Expired` are final.
 */
export type SubscriptionStatus = 'Pending' | 'Active' | 'Past Due' | 'Canceled' | 'Expired'

/** An entry of a subscription's status history. */
export interface SubscriptionStatusEvent {
  /** Time of the change in epoch milliseconds. */
  timestamp: number
  /** The new status. */
  status: SubscriptionStatus
  /** Balance at that time in minor units. */
  balance: number
  /** Price of a billing cycle at that time in minor units. */
  price: number
  /** Id of the plan at that time. */
  planId: string
  /** Whether a call or the clock caused the change. */
  source: 'api' | 'recurring'
}

/** Texts for the customer's bank statement. `null` uses the merchant account's. */
export interface Descriptor {
  /** Company and product on the bank statement: `company*product`. */
  name: string | null
  /** Phone number on the bank statement. */
  phone: string | null
  /** URL on the bank statement. */
  url: string | null
}

/** A subscription. */
export interface SubscriptionRow {
  /** Primary key: chosen by the caller, or six generated characters. */
  id: string
  /** Id of the current plan. */
  planId: string
  /** Price of a billing cycle in minor units, before add-ons and discounts. */
  price: number
  /** Currency of the plan. It never changes. */
  currency: string
  /** Id of the merchant account for its charges. */
  merchantAccountId: string
  /** Id of the customer. */
  customerId: string
  /** Token of the payment method to charge. */
  paymentMethodToken: string
  /** Current status. */
  status: SubscriptionStatus
  /** Amount owed in minor units. A negative balance is a credit that later cycles use up. */
  balance: number
  /** Months between billing dates. */
  billingFrequency: number
  /** Day of the month for billing: 1–28, or 31 for the last day. */
  billingDayOfMonth: number
  /** Date of the first charge, after the trial. */
  firstBillingDate: Day
  /** Date of the next charge, or of the end after the last cycle. */
  nextBillingDate: Day
  /** First day of the current cycle. `null` before the first cycle. */
  billingPeriodStart: Day | null
  /** Last day of the current cycle. `null` before the first cycle. */
  billingPeriodEnd: Day | null
  /** Last day that is paid for. `null` before the first payment. */
  paidThrough: Day | null
  /** Number of the current billing cycle. `0` during the trial. */
  currentBillingCycle: number
  /** Number of billing cycles. `null` if it never expires. */
  numberOfBillingCycles: number | null
  /** Whether it renews without limit. */
  neverExpires: boolean
  /** Number of declined charges since the last successful one. */
  failureCount: number
  /** Date of the first declined charge. `null` if the subscription is not past due. */
  pastDueSince: Day | null
  /** Number of automatic retries since it went past due. */
  retriesMade: number
  /** Date of the next automatic retry. `null` if none is scheduled. */
  retryOn: Day | null
  /** Whether it started with a trial. */
  trialPeriod: boolean
  /** Length of the trial in `trialDurationUnit`s. `null` without a trial. */
  trialDuration: number | null
  /** Unit of `trialDuration`. `null` without a trial. */
  trialDurationUnit: 'day' | 'month' | null
  /** Add-ons, which are added to the price. */
  addOns: AppliedModification[]
  /** Discounts, which are deducted from the price. */
  discounts: AppliedModification[]
  /** Texts for the bank statement of its charges. */
  descriptor: Descriptor
  /** Description for PayPal's receipts. */
  description: string | null
  /** Ids of its transactions, oldest first. Responses list the newest first. */
  transactionIds: string[]
  /** Status history, oldest first. Responses list the newest first. */
  statusHistory: SubscriptionStatusEvent[]
  /** Creation time in epoch milliseconds. */
  createdAt: number
  /** Time of the last change in epoch milliseconds. */
  updatedAt: number
}
