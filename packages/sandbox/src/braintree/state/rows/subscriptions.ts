import type { CalendarDay } from '../../wire/days.ts'

/** A plan, as created in Braintree's control panel. */
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
   * Day of the month on which subscriptions are billed: 1–28, or 31 for the last day of the month.
   * `null` bills on the day on which the subscription starts.
   */
  billingDayOfMonth: number | null
  /**
   * Number of billing cycles after which subscriptions expire. `null` if they renew until they are
   * canceled.
   */
  numberOfBillingCycles: number | null
  /** Whether subscriptions of the plan start with a trial. */
  trialPeriod: boolean
  /** Length of the trial in days or months, as `trialDurationUnit` says. `null` without a trial. */
  trialDuration: number | null
  /** Unit of `trialDuration`. `null` without a trial. */
  trialDurationUnit: 'day' | 'month' | null
  /** Ids of the add-ons that every new subscription of the plan inherits. */
  addOnIds: string[]
  /** Ids of the discounts that every new subscription of the plan inherits. */
  discountIds: string[]
  /** Creation time in epoch milliseconds. */
  createdAt: number
  /** Time of the last change in epoch milliseconds. */
  updatedAt: number
}

/** An add-on or discount, as created in Braintree's control panel. */
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
  /**
   * Number of billing cycles to which the add-on or discount applies. `null` if it applies to all
   * cycles.
   */
  numberOfBillingCycles: number | null
  /** Whether the add-on or discount applies to all billing cycles. */
  neverExpires: boolean
  /** Creation time in epoch milliseconds. */
  createdAt: number
  /** Time of the last change in epoch milliseconds. */
  updatedAt: number
}

/** An add-on or discount that a subscription has. */
export interface AppliedModification {
  /** Id of the add-on or discount in the control panel. */
  id: string
  /** Name of the add-on or discount. */
  name: string
  /** Description of the add-on or discount. */
  description: string | null
  /** Amount per unit and billing cycle in minor units. */
  amount: number
  /** Number of units of the add-on or discount, by which `amount` is multiplied. */
  quantity: number
  /**
   * Number of billing cycles to which the add-on or discount applies. `null` if it applies to all
   * cycles.
   */
  numberOfBillingCycles: number | null
  /** Whether the add-on or discount applies to all billing cycles. */
  neverExpires: boolean
  /** Number of billing cycles to which the add-on or discount has applied so far. */
  currentBillingCycle: number
  /**
   * Number of the last billing cycle to which the add-on or discount applied. `null` if there was
   * none yet.
   */
  countedInCycle: number | null
}

/**
 * Subscription status in the SDK's spelling. `Pending` waits for the first billing date; `Canceled`
 * and `Expired` are final.
 */
export type SubscriptionStatus = 'Pending' | 'Active' | 'Past Due' | 'Canceled' | 'Expired'

/** An entry of a subscription's status history. */
export interface SubscriptionStatusEvent {
  /** Time of the status change in epoch milliseconds. */
  timestamp: number
  /** The status after the change. */
  status: SubscriptionStatus
  /** The subscription's balance after the change, in minor units. */
  balance: number
  /** The subscription's price of a billing cycle after the change, in minor units. */
  price: number
  /** Id of the subscription's plan after the change. */
  planId: string
  /** Cause of the change: an API call (`api`), or the clock (`recurring`). */
  source: 'api' | 'recurring'
}

/**
 * Texts for the customer's bank statement. A part that is `null` is taken from the merchant
 * account.
 */
export interface StatementDescriptor {
  /** Company and product on the bank statement: `company*product`. */
  name: string | null
  /** Phone number on the bank statement. */
  phone: string | null
  /** URL on the bank statement. */
  url: string | null
}

/** A subscription as the sandbox stores it. */
export interface SubscriptionRow {
  /** Primary key: the id chosen by the caller, or six generated characters. */
  id: string
  /** Id of the current plan. */
  planId: string
  /** Price of a billing cycle in minor units, before add-ons and discounts. */
  price: number
  /** Currency of the subscription's plan. It never changes. */
  currency: string
  /** Id of the merchant account that charges the subscription. */
  merchantAccountId: string
  /** Id of the customer who pays for the subscription. */
  customerId: string
  /** Token of the payment method that is charged. */
  paymentMethodToken: string
  /** Current status of the subscription. */
  status: SubscriptionStatus
  /** Amount owed in minor units. A negative balance is a credit that later cycles use up. */
  balance: number
  /** Months between billing dates. */
  billingFrequency: number
  /**
   * Day of the month on which the subscription is billed: 1–28, or 31 for the last day of the
   * month.
   */
  billingDayOfMonth: number
  /** Date of the first charge, after the trial. */
  firstBillingDate: CalendarDay
  /**
   * Date of the next charge. After the last billing cycle, the date on which the subscription
   * expires.
   */
  nextBillingDate: CalendarDay
  /** First day of the current cycle. `null` before the first cycle. */
  billingPeriodStart: CalendarDay | null
  /** Last day of the current cycle. `null` before the first cycle. */
  billingPeriodEnd: CalendarDay | null
  /** Last day that is paid for. `null` before the first payment. */
  paidThrough: CalendarDay | null
  /** Number of the current billing cycle. `0` during the trial. */
  currentBillingCycle: number
  /**
   * Number of billing cycles after which the subscription expires. `null` if it renews without
   * limit.
   */
  numberOfBillingCycles: number | null
  /** Whether the subscription renews without limit. */
  neverExpires: boolean
  /** Number of declined charges since the last successful one. */
  failureCount: number
  /** Date of the first declined charge. `null` if the subscription is not past due. */
  pastDueSince: CalendarDay | null
  /** Number of automatic retries since the subscription went past due. */
  retriesMade: number
  /** Date of the next automatic retry. `null` if none is scheduled. */
  retryOn: CalendarDay | null
  /** Whether the subscription started with a trial. */
  trialPeriod: boolean
  /** Length of the trial in days or months, as `trialDurationUnit` says. `null` without a trial. */
  trialDuration: number | null
  /** Unit of `trialDuration`. `null` without a trial. */
  trialDurationUnit: 'day' | 'month' | null
  /** The subscription's add-ons, which are added to the price. */
  addOns: AppliedModification[]
  /** The subscription's discounts, which are deducted from the price. */
  discounts: AppliedModification[]
  /** Texts for the customer's bank statement, used by the subscription's charges. */
  descriptor: StatementDescriptor
  /** Description of the subscription in PayPal's receipts. */
  description: string | null
  /** Ids of the subscription's transactions, oldest first. API responses list the newest first. */
  transactionIds: string[]
  /**
   * The subscription's earlier and current status, oldest first. API responses list the newest
   * first.
   */
  statusHistory: SubscriptionStatusEvent[]
  /** Creation time in epoch milliseconds. */
  createdAt: number
  /** Time of the last change in epoch milliseconds. */
  updatedAt: number
}
