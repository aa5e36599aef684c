import type { InvoiceData } from '../../invoices/invoice.ts'
import type { ProviderName } from '../../provider-name.ts'
import type { Money } from '../../values/money.ts'
import type { Owner } from '../../values/owner.ts'
import type { BasisPoints, TaxTerms } from '../../values/tax.ts'
import type { NewCustomer, ProviderCustomer } from './customer.ts'
import type { ProviderMethod } from './parts/pages/payment-methods.ts'
import type { Capability, GatewayParts, ReadingParts } from './parts.ts'
import type {
  ChargeOptions,
  InvoiceFilter,
  InvoiceForOptions,
  InvoiceOutcome,
  TaxOf,
} from './payment.ts'
import type {
  ActiveDiscount,
  AgreedTerms,
  NewSubscription,
  ProviderSubscription,
} from './subscription.ts'
import type { Swap, SwapPreview } from './swap.ts'
import type { EventSubject, RawWebhook, VerifiedEvent } from './webhook.ts'

/** What can be asked of a provider. Nothing changes there, so no lock is needed. */
export interface GatewayReads {
  /** The provider's name, as in `Provider`. */
  readonly name: ProviderName

  /** Null when there is none, or it was deleted. */
  findCustomer(id: string): Promise<ProviderCustomer | null>
  /** Whether this customer has ever paid anything, or is asked to. */
  hasPaid(customerId: string): Promise<boolean>

  /** Null when there is none. */
  findSubscription(id: string): Promise<ProviderSubscription | null>
  /** What an interrupted operation made, if it came that far. */
  findByOperation(
    operation: { readonly id: string; readonly name: string | null },
    customerId: string,
  ): Promise<ProviderSubscription | null>
  /** Oldest first. */
  listSubscriptions(customerId: string): Promise<ProviderSubscription[]>
  /** The customer of a subscription that does not say so itself. */
  findOwner(subscription: ProviderSubscription): Promise<string | null>
  /** Throws what its newest payment waits for, or why it failed. */
  requirePaid(subscription: ProviderSubscription): Promise<void>
  /** The terms under which it runs. */
  findTerms(subscription: ProviderSubscription): Promise<AgreedTerms>
  /**
   * Describes the payment method that a token stands for, without keeping it. A token that `setCard` has spent gives the
   * method that it made. Throws InvalidPaymentToken for what the customer could not use.
   */
  readToken(customerId: string, token: string): Promise<ProviderMethod>
  /** What is taken off its next bills; credit from a swap is not among them. */
  findDiscounts(id: string): Promise<ActiveDiscount[]>
  /** What `swap` would cost. */
  previewSwap(id: string, swap: Swap, now: Date): Promise<SwapPreview>
  /** What a subscription owes now, because payments failed. */
  amountOwed(subscription: ProviderSubscription): Promise<Money>

  /** A plain number in the provider's own unit becomes money, or InvalidAmount. */
  toMoney(amount: number | Money): Money
  /** Newest first. */
  listInvoices(customerId: string, filter: InvoiceFilter): Promise<InvoiceData[]>
  /** Null when there is none, or it is somebody else's. */
  findInvoice(id: string, customerId: string, taxOf: TaxOf): Promise<InvoiceData | null>

  /**
   * Checks the signature over the raw bytes, or throws InvalidSignature. `realNow` is the real time, even if billing
   * has a `clock` of its own: providers sign with the real time.
   */
  verifyWebhook(webhook: RawWebhook, realNow: Date): Promise<VerifiedEvent>
  /** The response to a provider's question whether this URL is ours; null when it asks none. */
  answerChallenge?(query: URLSearchParams): string | null
  /** The stored payload as the SDK's own object, for handlers. */
  readEvent(payload: string): Promise<unknown>
  /** What an event is about. Only ids are taken from it: what they stand for is read again. */
  subjectOf(event: unknown): EventSubject

  /** What is missing in the control panel, in words; empty when all is well. */
  check(): Promise<string[]>
}

/**
 * What can be changed at a provider, by whoever holds the user's lock. Each of these may be repeated after
 * an answer that was lost: the repeat finds what the first attempt did.
 */
export interface GatewayChanges {
  /** Without a card yet. A repeat of the operation gives the same customer. */
  createCustomer(customer: NewCustomer): Promise<ProviderCustomer>
  /** Writes the owner's name with the customer, where the provider keeps it. A repeat changes nothing. */
  setOwner?(customerId: string, owner: Owner): Promise<void>
  /**
   * Makes the token's card the one that is billed, for running subscriptions as well. A repeat finds
   * the card of the first attempt, though the token is spent.
   */
  setCard(customerId: string, token: string): Promise<ProviderCustomer>

  /** A repeat of the operation gives the same subscription. */
  createSubscription(subscription: NewSubscription): Promise<ProviderSubscription>
  /**
   * Changes the plan in place. What has to be paid at once and is not, changes nothing: PaymentFailed; or it waits for the
   * customer, told by `isHeld`: PaymentActionRequired, also for a repeat.
   */
  swap(id: string, swap: Swap, now: Date): Promise<void>
  /** Another tax on the same price, for charges to come. */
  setTax(id: string, tax: BasisPoints, before: TaxTerms | null): Promise<void>
  /** Ends when the period that is paid for, or the trial, ends. */
  cancelAtPeriodEnd(id: string): Promise<void>
  /** Nothing happens when it is over already. */
  cancelNow(id: string, options?: { readonly invoiceNow?: boolean }): Promise<void>
  /** Takes `cancelAtPeriodEnd` back. */
  resume(id: string): Promise<void>
  /** Tries to pay now what a subscription owes. Throws when that fails. */
  payNow(subscription: ProviderSubscription): Promise<void>

  /** Charges the customer's card once for each idempotency key. */
  charge(customerId: string, amount: Money, options: ChargeOptions): Promise<unknown>
  /** Charges the customer's card at once, with an invoice. */
  invoiceFor(
    customerId: string,
    item: { readonly description: string; readonly amount: Money },
    options: InvoiceForOptions,
  ): Promise<InvoiceOutcome>
  /** Tries to pay an open invoice now; null when it is not this customer's. Paid once, whoever tries. */
  payInvoice(id: string, customerId: string): Promise<InvoiceOutcome | null>
}

/**
 * One provider. Methods talk to it and never to our database; amounts are integers; what they throw are
 * our errors. What only some providers can do is a part, and missing where it cannot be done.
 */
export type Gateway<Can extends Capability = never> = GatewayReads &
  GatewayChanges &
  Partial<GatewayParts> &
  Pick<GatewayParts, Can>

/** What those get who do not hold the user's lock for a change. */
export type ReadingGateway = GatewayReads & ReadingParts
