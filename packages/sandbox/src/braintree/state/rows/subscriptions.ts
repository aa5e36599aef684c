import type { Day } from '../../wire/days.ts'

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
