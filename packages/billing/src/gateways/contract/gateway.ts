import type {
  PaymentActionRequired,
  PaymentFailed,
  PendingConfirmation,
  ProviderName,
} from '../../errors.ts'
import type { InvoiceData } from '../../invoices/invoice.ts'
import type { CardSummary } from '../../storage/tables.ts'
import type { TaxTerms } from '../../storage/taxes.ts'
import type { Money } from '../../values/money.ts'
import type { BasisPoints } from '../../values/tax.ts'

/** A provider's subscription in our words; both gateways give the same. */
export interface ProviderSubscription {
  readonly id: string
  /** Null where the provider's object does not say; then ask `findOwner`. */
  readonly customerId: string | null
  readonly plan: string
  readonly status: string
  /** The provider will do nothing more with it, though access may go on until `endsAt`. */
  readonly isOver: boolean
  readonly quantity: number
  readonly trialEndsAt: Date | null
  /** When access ends or ended; null while it goes on. */
  readonly endsAt: Date | null
  /** When the running period or trial is over, and the next bill is due. */
  readonly periodEndsAt: Date | null
  /** When `cancelAtPeriodEnd` would end it: what is paid for, with credit; null for at once. */
  readonly paidUntil: Date | null
  readonly createdAt: Date
  /** The name it was created under, where the provider keeps it. */
  readonly name: string | null
  /** Of a name that it has no room for. */
  readonly nameDigest: string | null
  /** The operation that made it. */
  readonly operation: string | null
  readonly failedCharges: number
  /** The price with the tax inside, where the provider knows no tax; null where it does. */
  readonly taxedPrice: number | null
  readonly lastChargeAt: Date | null
  readonly raw: unknown
}

/** What is taken off the bills of a subscription now. */
export interface ActiveDiscount {
  /** The coupon's id at Stripe, the discount's at Braintree. */
  readonly coupon: string
  /** What the provider calls it. */
  readonly name: string
  /** Either a percentage or an amount; the other one is null. */
  readonly percentOff: number | null
  readonly amountOff: Money | null
  /** After this moment it counts no more (Stripe). Null: without an end, or counted in bills. */
  readonly endsAt: Date | null
  /** How many more bills it counts for (Braintree). Null: without an end, or until a moment. */
  readonly billsLeft: number | null
}

/** Why a subscription is over. `cancelled` is by whoever asked for it, the others are the provider's. */
export type EndReason = 'cancelled' | 'payment_failed' | 'payment_disputed'

export interface ProviderCustomer {
  readonly id: string
  readonly card: CardSummary
  /** Something to charge. */
  readonly hasPaymentMethod: boolean
  readonly raw: unknown
}

/** What a customer is created with. Other keys go to the provider as they are. */
export interface CustomerDetails {
  readonly email?: string
  readonly name?: string
  readonly phone?: string
  readonly [detail: string]: unknown
}

export interface NewCustomer {
  readonly userId: string | number
  readonly details: CustomerDetails
  readonly operation: string
}

/** What a first payment is for, and who pays it. */
export interface FirstPayment {
  readonly provider: ProviderName
  readonly customerId: string
  readonly plan: string
  readonly quantity: number
  readonly coupon: string | null
}

export interface NewSubscription extends Omit<FirstPayment, 'provider'> {
  readonly name: string
  readonly trialDays: number | null
  readonly tax: BasisPoints
  readonly operation: string
}

export interface Swap {
  readonly plan: string
  readonly skipTrial: boolean
  readonly prorate: boolean
  /** Takes a cancellation back: price and coupons stay as they are, whatever the plan costs by now. */
  readonly keepsPrice?: boolean
  /** Bill the difference at once instead of with the next invoice. */
  readonly invoiceNow: boolean
  readonly tax: BasisPoints
  /** The price and tax it has now, where we keep them; null where the provider does. */
  readonly before: TaxTerms | null
  /** The moment a preview was made for, to get the same cents. */
  readonly prorationDate: Date | null
}

export interface Replacement {
  readonly operation: string
  readonly name: string
  readonly customerId: string
  readonly now: Date
}

export type PreviewLineKind = 'item' | 'proration' | 'discount' | 'tax' | 'balance'

export interface PreviewLine {
  readonly kind: PreviewLineKind
  readonly description: string
  /** Negative is taken off. */
  readonly amount: Money
}

/** The invoice that will come: its lines add up to its total. */
export interface SwapPreview {
  /** Whether the swap charges at once; otherwise the next invoice carries it. */
  readonly immediately: boolean
  /** When that invoice or charge is due: now, at the next bill, or at the end of the trial. */
  readonly date: Date
  /** What is charged then. Never below zero: what is left over is a line, and stays as credit. */
  readonly total: Money
  /** Value of the old plan that is not used up, and counts towards the new one. */
  readonly credit: Money
  readonly lines: readonly PreviewLine[]
  /** The tax within the total, where prices hold it (Braintree); otherwise taxes are lines. */
  readonly includedTax: Money
  /** Give it to `swap()` to get the same cents. */
  readonly prorationDate: Date
}

export interface ChargeOptions {
  /** The same key charges once, however often it is sent, and goes on after a decline. */
  readonly idempotencyKey?: string
  /** Other keys go to the provider as they are. */
  readonly [option: string]: unknown
}

export interface InvoiceForOptions extends ChargeOptions {
  /** Stripe goes on trying to collect a failed invoice unless this is set. */
  readonly voidOnFailure?: boolean
}

/** What came of paying an invoice. */
export interface InvoiceOutcome {
  readonly invoice: InvoiceData
  /** The subscription it is for, at the provider. */
  readonly subscription: string | null
  readonly failure: PaymentFailed | PaymentActionRequired | null
}

export interface VerifiedEvent {
  readonly id: string
  /** `invoice.paid`, `subscription_canceled`. */
  readonly type: string
  /** What is stored and can be read again by `readEvent`. */
  readonly payload: string
  /** Another mode or account than ours: kept, without effect. */
  readonly foreign: boolean
}

/** What an event is about. */
export interface EventSubject {
  readonly subscriptionId: string | null
  readonly customerId: string | null
  /** The customer itself is gone. */
  readonly customerDeleted: boolean
  /** The customer's card may have changed. */
  readonly cardChanged: boolean
  /** How often the charge has failed, in an event that tells of it. */
  readonly failedCharges: number | null
}

export interface RawWebhook {
  readonly body: string
  header(name: string): string | null
}

/** One provider. Methods talk to it and never to our database; amounts are integers. */
export interface Gateway {
  readonly name: ProviderName
  readonly supportsQuantities: boolean

  /** Without a card yet. A repeat of the operation gives the same customer. */
  createCustomer(customer: NewCustomer): Promise<ProviderCustomer>
  /** Null when there is none, or it was deleted. */
  findCustomer(id: string): Promise<ProviderCustomer | null>
  /**
   * Makes the token's card the one that is billed, for running subscriptions as well. A repeat finds
   * the card of the first attempt, though the token is spent.
   */
  setCard(customerId: string, token: string): Promise<ProviderCustomer>

  /** Whether this customer has ever paid anything, or is asked to. */
  hasPaid(customerId: string): Promise<boolean>

  createSubscription(subscription: NewSubscription): Promise<ProviderSubscription>
  findSubscription(id: string): Promise<ProviderSubscription | null>
  /** What an interrupted operation made, if it came that far. */
  findByOperation(
    operation: { readonly id: string; readonly name: string | null },
    customerId: string,
  ): Promise<ProviderSubscription | null>
  /** Oldest first. */
  listSubscriptions(customerId: string): Promise<ProviderSubscription[]>
  findOwner(subscription: ProviderSubscription): Promise<string | null>

  /**
   * Of one whose first payment is missing: whether that is still on its way, for just this and by the
   * customer's present card. Otherwise nobody can say yes to it any more.
   */
  isAwaiting(subscription: ProviderSubscription, wanted: FirstPayment): Promise<boolean>
  /** Ends one whose first payment is missing, so that it can never come. One that came is left alone. */
  abandon(subscription: ProviderSubscription): Promise<void>

  /** Throws what its newest payment waits for, or why it failed. */
  requirePaid(subscription: ProviderSubscription): Promise<void>
  /** What the customer is asked to confirm: a card for after the trial, or a payment. */
  findPendingConfirmation(id: string): Promise<PendingConfirmation | null>

  /** What is taken off its next bills; credit from a swap is not among them. */
  findDiscounts(id: string): Promise<ActiveDiscount[]>
  /** Null while it goes on, and where the provider does not know it. */
  findEndReason(id: string): Promise<EndReason | null>

  /** Whether the swap needs a new subscription at the provider, under `operation`. */
  needsReplacement(id: string, swap: Swap, now: Date): Promise<boolean>
  swap(id: string, swap: Swap, now: Date): Promise<void>
  /** Makes the new subscription; the old one is cancelled by the caller once it stands. */
  replace(id: string, swap: Swap, at: Replacement): Promise<ProviderSubscription>
  previewSwap(id: string, swap: Swap, now: Date): Promise<SwapPreview>
  setQuantity(id: string, quantity: number): Promise<void>
  /** Another tax on the same price, for charges to come. */
  setTax(id: string, tax: BasisPoints, before: TaxTerms | null): Promise<void>
  cancelAtPeriodEnd(id: string): Promise<void>
  /** Nothing happens when it is over already. */
  cancelNow(id: string, options?: { readonly invoiceNow?: boolean }): Promise<void>
  resume(id: string): Promise<void>

  /** A plain number in the provider's own unit becomes money, or InvalidAmount. */
  toMoney(amount: number | Money): Money
  charge(customerId: string, amount: Money, options: ChargeOptions): Promise<unknown>
  invoiceFor(
    customerId: string,
    item: { readonly description: string; readonly amount: Money },
    options: InvoiceForOptions,
  ): Promise<InvoiceOutcome>
  /** Tries to pay an open invoice now; null when it is not this customer's. Paid once, whoever tries. */
  payInvoice(id: string, customerId: string): Promise<InvoiceOutcome | null>
  /** What a subscription owes now, because payments failed. */
  amountOwed(subscription: ProviderSubscription): Promise<Money>
  /** Tries to pay now what a subscription owes. Throws when that fails. */
  payNow(subscription: ProviderSubscription): Promise<void>
  /** Newest first. */
  listInvoices(customerId: string, filter: InvoiceFilter): Promise<InvoiceData[]>
  /** Null when there is none, or it is somebody else's. */
  findInvoice(id: string, customerId: string, taxOf: TaxOf): Promise<InvoiceData | null>

  verifyWebhook(webhook: RawWebhook, now: Date): Promise<VerifiedEvent>
  /** The answer to a provider's question whether this URL is ours; null when it asks none. */
  answerChallenge(query: URLSearchParams): string | null
  /** The stored payload as the SDK's own object, for handlers. */
  readEvent(payload: string): Promise<unknown>
  subjectOf(event: unknown): EventSubject
  /** What is missing in the control panel, in words; empty when all is well. */
  check(): Promise<string[]>
}

export interface InvoiceFilter {
  readonly pending: boolean
  /** The newest so many; null for all. */
  readonly limit: number | null
  readonly taxOf: TaxOf
}

/** The tax within a subscription's charge of that moment. */
export type TaxOf = (subscriptionId: string, at: Date) => BasisPoints
