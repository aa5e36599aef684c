import type { Money } from '../core/values/money.ts'
import type { Owner } from '../core/values/owner.ts'
import type { ProviderName } from '../core/values/provider-name.ts'
import type { BasisPoints, TaxTerms } from '../core/values/tax.ts'
import type { NewCustomer, ProviderCustomer } from './customer.ts'
import type { Capability, GatewayParts, ReadOnlyParts } from './gateway-parts.ts'
import type { ProviderPaymentMethod } from './payment-method.ts'
import type {
  ActiveDiscount,
  AgreedTerms,
  NewSubscription,
  ProviderSubscription,
} from './subscription.ts'
import type { EventSubject, RawWebhook, VerifiedEvent } from './webhook.ts'

/**
 * The read-only methods of a gateway. They need no lock. Each feature adds its own methods in its
 * `contract.ts`.
 */
export interface GatewayReads {
  /** The provider's name, as in `Provider`. */
  readonly name: ProviderName

  /** Finds a customer. `null` if it does not exist or was deleted. */
  findCustomer(id: string): Promise<ProviderCustomer | null>
  /** Whether this customer has paid anything, or has payments due. */
  hasPaid(customerId: string): Promise<boolean>

  /** Finds a subscription. `null` if it does not exist. */
  findSubscription(id: string): Promise<ProviderSubscription | null>
  /**
   * Finds the subscription that an interrupted operation created. `null` if it was interrupted
   * before that.
   */
  findByOperation(
    operation: { readonly id: string; readonly name: string | null },
    customerId: string,
  ): Promise<ProviderSubscription | null>
  /** Lists the customer's subscriptions, oldest first. */
  listSubscriptions(customerId: string): Promise<ProviderSubscription[]>
  /**
   * Finds the provider's id of a subscription's customer. For providers whose subscription objects
   * do not contain the customer.
   */
  findCustomerId(subscription: ProviderSubscription): Promise<string | null>
  /**
   * Throws an error with the reason why the newest payment of a subscription failed or is still
   * pending. Does nothing if it succeeded.
   */
  requirePaid(subscription: ProviderSubscription): Promise<void>
  /** Reads the terms under which a subscription runs. */
  findTerms(subscription: ProviderSubscription): Promise<AgreedTerms>
  /**
   * Describes the payment method of a token without storing it. For a token that `setCard` has
   * used, returns the method that `setCard` created.
   * @throws InvalidPaymentToken for a token that the customer cannot use.
   */
  readToken(customerId: string, token: string): Promise<ProviderPaymentMethod>
  /** Lists the discounts that reduce a subscription's next invoices, without credit from a swap. */
  findDiscounts(id: string): Promise<ActiveDiscount[]>
  /** Returns the amount that a subscription owes now because of failed payments. */
  amountOwed(subscription: ProviderSubscription): Promise<Money>

  /**
   * Converts a plain number in the provider's own unit to money.
   * @throws InvalidAmount for an invalid amount.
   */
  toMoney(amount: number | Money): Money
  /**
   * Verifies the signature over the raw body. `realNow` is the real time even if billing has a
   * `clock` of its own, because providers sign with the real time.
   * @throws InvalidSignature if it is invalid.
   */
  verifyWebhook(webhook: RawWebhook, realNow: Date): Promise<VerifiedEvent>
  /**
   * Answers a provider's request to verify that this webhook URL is ours. `null` if the request
   * contains no challenge.
   */
  answerChallenge?(query: URLSearchParams): string | null
  /** Parses a stored payload into the SDK's own object, for handlers. */
  readEvent(payload: string): Promise<unknown>
  /**
   * Returns the objects that an event is about. Only ids are taken from the event; the objects are
   * read again.
   */
  subjectOf(event: unknown): EventSubject

  /** Lists missing settings of the account as readable sentences. Empty if there are none. */
  check(): Promise<string[]>
}

/**
 * The methods of a gateway that change something, to be called only while holding the owner's lock.
 * Each feature adds its own methods in its `contract.ts`. All are idempotent: after a lost
 * response, a retry finds what the first attempt did.
 */
export interface GatewayChanges {
  /** Creates a customer without a card. A retry of the operation returns the same customer. */
  createCustomer(customer: NewCustomer): Promise<ProviderCustomer>
  /** Stores the owner with the customer, if the provider has room for it. Idempotent. */
  setOwner?(customerId: string, owner: Owner): Promise<void>
  /**
   * Makes the token's card the default, for running subscriptions too. A retry finds the card of
   * the first attempt, although the token is used up.
   */
  setCard(customerId: string, token: string): Promise<ProviderCustomer>

  /** Creates a subscription. A retry of the operation returns the same subscription. */
  createSubscription(subscription: NewSubscription): Promise<ProviderSubscription>
  /** Changes the tax of a subscription for future charges, and keeps its net price. */
  setTax(id: string, tax: BasisPoints, before: TaxTerms | null): Promise<void>
  /** Ends the subscription at the end of the paid period, or of the trial. */
  cancelAtPeriodEnd(id: string): Promise<void>
  /** Ends the subscription immediately. Does nothing if it has ended already. */
  cancelNow(id: string, options?: { readonly invoiceNow?: boolean }): Promise<void>
  /** Reverts `cancelAtPeriodEnd`. */
  resume(id: string): Promise<void>
  /** Tries to collect what a subscription owes now. Throws if that fails. */
  payNow(subscription: ProviderSubscription): Promise<void>
}

/**
 * A connection to one provider, independent of our database. Amounts are integers, and all errors
 * are BillingErrors. Capabilities that the provider lacks are missing.
 */
export type Gateway<Can extends Capability = never> = GatewayReads &
  GatewayChanges &
  Partial<GatewayParts> &
  Pick<GatewayParts, Can>

/** The gateway without methods that change something, for callers without a lock. */
export type ReadOnlyGateway = GatewayReads & ReadOnlyParts
