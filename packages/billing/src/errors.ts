import type { DifferentTerm } from './different-term.ts'
import type { ProviderName } from './provider-name.ts'

/** What went wrong, for programs. The class fixes it; the thrower only explains. */
export type BillingErrorCode =
  | 'invalid_argument'
  | 'invalid_amount'
  | 'invalid_tax_percentage'
  | 'unknown_plan'
  | 'unknown_coupon'
  | 'invalid_payment_token'
  | 'already_subscribed'
  | 'trial_used'
  | 'provider_chosen'
  | 'transfer_refused'
  | 'no_subscription'
  | 'subscription_ended'
  | 'not_on_grace_period'
  | 'payment_overdue'
  | 'unsupported'
  | 'no_customer'
  | 'no_payment_method'
  | 'payment_failed'
  | 'payment_action_required'
  | 'provider_rejected'
  | 'provider_unavailable'
  | 'provider_misconfigured'
  | 'busy'
  | 'database_unavailable'
  | 'user_not_found'
  | 'invoice_not_found'
  | 'invoice_paid'
  | 'charge_not_found'
  | 'credit_note_not_found'
  | 'checkout_not_found'
  | 'payment_method_not_found'
  | 'payment_method_in_use'
  | 'item_not_found'
  | 'amount_too_large'
  | 'refund_refused'
  | 'refund_not_possible_yet'
  | 'promotion_code_refused'
  | 'too_many_attempts'
  | 'invalid_tax_id'
  | 'tax_location_unknown'
  | 'invalid_signature'
  | 'unauthenticated'
  | 'not_found'

/** `message` may be shown to the caller of the operation; what only we may see goes in `cause`. */
export abstract class BillingError extends Error {
  /** Tell errors apart by it: that works across bundles and copies of this package. */
  abstract readonly code: BillingErrorCode
  /** The HTTP status a route answers with. */
  readonly status: number = 400

  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = new.target.name
  }
}

/**
 * Bundlers may load this package more than once in a process: Next's does, for route handlers and for
 * `instrumentation.ts`. An error of one copy is a BillingError to the other as well.
 */
const BRAND = Symbol.for('@tollgate/billing/BillingError')
const sameCopy = Function.prototype[Symbol.hasInstance]
Object.defineProperty(BillingError.prototype, BRAND, { value: true })
Object.defineProperty(BillingError, Symbol.hasInstance, {
  value(this: unknown, thrown: unknown): boolean {
    if (this !== BillingError) return sameCopy.call(this, thrown)
    if (typeof thrown !== 'object' || thrown === null) return false
    return BRAND in thrown && !Object.hasOwn(thrown, BRAND) // own: the prototype, no instance of it
  },
})

/** A trial of -3 days, a quantity of half a seat: refused before any call. */
export class InvalidArgument extends BillingError {
  readonly code = 'invalid_argument'
}

/** An amount that is not a whole number of the smallest unit, or not more than nothing. */
export class InvalidAmount extends BillingError {
  readonly code = 'invalid_amount'
}

/** A tax below 0, above 100, or with more than two decimals. */
export class InvalidTaxPercentage extends BillingError {
  readonly code = 'invalid_tax_percentage'
}

/** The name is taken by a subscription with other terms. Nothing was changed or charged. */
export class AlreadySubscribed extends BillingError {
  readonly code = 'already_subscribed'
  override readonly status = 409
  /** Terms that differ from those in force. Empty where terms were not compared. */
  readonly terms: readonly DifferentTerm[]

  constructor(
    message: string,
    { terms = [], ...options }: ErrorOptions & { readonly terms?: readonly DifferentTerm[] } = {},
  ) {
    super(message, options)
    this.terms = terms
  }
}

/** The owner has had a free trial, and the option `trials` gives everybody one. Nothing happened, and nothing was charged. */
export class TrialUsed extends BillingError {
  readonly code = 'trial_used'
  override readonly status = 409
}

/** Something was paid through one provider, or is still to be paid there, so another can no longer be chosen. */
export class ProviderChosen extends BillingError {
  readonly code = 'provider_chosen'
  override readonly status = 409
}

/** Why a customer is not given to another owner. */
export type TransferRefusal = 'same_owner' | 'has_customer' | 'has_subscription' | 'other_provider'

/** The customer cannot be given to that owner. Nothing happened. */
export class TransferRefused extends BillingError {
  readonly code = 'transfer_refused'
  override readonly status = 409
  /**
   * `same_owner`: the owner has it already. `has_customer` and `has_subscription`: the other owner has, or had, its own.
   * `other_provider`: the other owner has chosen to pay elsewhere.
   */
  readonly reason: TransferRefusal

  constructor(message: string, { reason }: { readonly reason: TransferRefusal }) {
    super(message)
    this.reason = reason
  }
}

/** There is no subscription under that name. */
export class NoSubscription extends BillingError {
  readonly code = 'no_subscription'
  override readonly status = 404
}

/** The subscription is over and cannot be changed. */
export class SubscriptionEnded extends BillingError {
  readonly code = 'subscription_ended'
  override readonly status = 409
}

/** Only what was cancelled and has not ended can be resumed. */
export class NotOnGracePeriod extends BillingError {
  readonly code = 'not_on_grace_period'
  override readonly status = 409
}

/** What would be given back has not been paid: `payNow()` first where a bill is open, or change it without proration. Nothing happened. */
export class PaymentOverdue extends BillingError {
  readonly code = 'payment_overdue'
  override readonly status = 402
}

/** What this provider cannot do, such as quantities at Braintree. No call was made. */
export class Unsupported extends BillingError {
  readonly code = 'unsupported'
  /** Who cannot do it. */
  readonly provider: ProviderName
  /** The part of the gateway that is missing: `quantities`. */
  readonly capability: string

  constructor(
    message: string,
    {
      provider,
      capability,
      ...options
    }: ErrorOptions & {
      readonly provider: ProviderName
      readonly capability: string
    },
  ) {
    super(message, options)
    this.provider = provider
    this.capability = capability
  }
}

/** This user has never paid anything, so the provider does not know them. */
export class NoCustomer extends BillingError {
  readonly code = 'no_customer'
}

/** There is nothing to charge: no card and no PayPal account. */
export class NoPaymentMethod extends BillingError {
  readonly code = 'no_payment_method'
}

/** The application's table has no such user, or no such row of another owner. */
export class UserNotFound extends BillingError {
  readonly code = 'user_not_found'
  override readonly status = 404
}

/** Another operation of the same owner has not finished, or usage cannot be sent that has to be there first. Nothing was done: try again. */
export class Busy extends BillingError {
  readonly code = 'busy'
  override readonly status = 503
}

/**
 * The application's database is away, failing over, full, or too busy to answer in time. What was asked may or may not have
 * happened. Repeating is safe.
 */
export class DatabaseUnavailable extends BillingError {
  readonly code = 'database_unavailable'
  override readonly status = 503
}

/** What an error of a provider is made with. */
export interface ProviderFailure extends ErrorOptions {
  /** Who said it. */
  readonly provider: ProviderName
  /** The provider's own code: `card_declined`, `2001`, `91904`. */
  readonly providerCode: string | null
}

/** A provider said no, or said nothing. */
export abstract class ProviderError extends BillingError {
  /** Who said it. */
  readonly provider: ProviderName
  /** What they call it; null where they gave no code. */
  readonly providerCode: string | null

  constructor(message: string, failure: ProviderFailure) {
    super(message, failure)
    this.provider = failure.provider
    this.providerCode = failure.providerCode
  }
}

/** The provider has no such plan. */
export class UnknownPlan extends ProviderError {
  readonly code = 'unknown_plan'
}

/** The provider has no such coupon, or it is no longer valid. */
export class UnknownCoupon extends ProviderError {
  readonly code = 'unknown_coupon'
}

/** The card token or nonce is unknown, used up or belongs to somebody else. */
export class InvalidPaymentToken extends ProviderError {
  readonly code = 'invalid_payment_token'
}

/** The provider refused the request for a reason of its own. Nothing happened. */
export class ProviderRejected extends ProviderError {
  readonly code = 'provider_rejected'
}

/** No answer, or "later": what was asked may or may not have happened. Repeating is safe. */
export class ProviderUnavailable extends ProviderError {
  readonly code = 'provider_unavailable'
  override readonly status = 503
}

/** Keys are wrong, or something is missing in the provider's control panel. */
export class ProviderMisconfigured extends ProviderError {
  readonly code = 'provider_misconfigured'
  override readonly status = 500
}

const OPEN: readonly BillingErrorCode[] = ['provider_unavailable', 'database_unavailable', 'busy']

/**
 * Whether an intent has definitely failed. After anything else, such as a lost answer or a database
 * that is away, the provider may have done what was asked.
 */
export function isFinal(error: unknown): boolean {
  return error instanceof BillingError && !OPEN.includes(error.code)
}

/** There is no such invoice of this user. */
export class InvoiceNotFound extends BillingError {
  readonly code = 'invoice_not_found'
  override readonly status = 404
}

/** The invoice is paid, or a draft that credit will pay, so it cannot be voided: its money can be given back. */
export class InvoicePaid extends BillingError {
  readonly code = 'invoice_paid'
  override readonly status = 409
}

/** There is no such credit note of this user. */
export class CreditNoteNotFound extends BillingError {
  readonly code = 'credit_note_not_found'
  override readonly status = 404
}

/** There is no such charge of this user. */
export class ChargeNotFound extends BillingError {
  readonly code = 'charge_not_found'
  override readonly status = 404
}

/** There is no such payment method of this user. */
export class PaymentMethodNotFound extends BillingError {
  readonly code = 'payment_method_not_found'
  override readonly status = 404
}

/** A subscription is billed by it, and would end or go unpaid without it. Nothing happened. */
export class PaymentMethodInUse extends BillingError {
  readonly code = 'payment_method_in_use'
  override readonly status = 409
}

/** More than is left of a charge was to be given back. Nothing happened. */
export class AmountTooLarge extends BillingError {
  readonly code = 'amount_too_large'
}

/** The provider does not give this money back. Nothing happened. */
export class RefundRefused extends ProviderError {
  readonly code = 'refund_refused'
}

/** Nothing, or no part, of a charge can go back before it is settled. Nothing happened: try again later. */
export class RefundNotPossibleYet extends ProviderError {
  readonly code = 'refund_not_possible_yet'
  override readonly status = 409
}

/** Why a code cannot be used. `unknown` also where it is over, or another customer's: nobody learns which. */
export type CodeRefusal = 'unknown' | 'not_first_time' | 'below_minimum' | 'not_applicable'

/** A code that somebody typed takes nothing off here. Nothing happened. */
export class PromotionCodeRefused extends ProviderError {
  readonly code = 'promotion_code_refused'
  /** What may be told to whoever typed it. */
  readonly reason: CodeRefusal

  constructor(message: string, failure: ProviderFailure & { readonly reason: CodeRefusal }) {
    super(message, failure)
    this.reason = failure.reason
  }
}

/** Too many codes were tried that cannot be used. The provider was not asked. */
export class TooManyAttempts extends BillingError {
  readonly code = 'too_many_attempts'
  override readonly status = 429
  /** Seconds until the next one may be tried. */
  readonly retryAfter: number

  constructor(
    message: string,
    { retryAfter, ...options }: ErrorOptions & { readonly retryAfter: number },
  ) {
    super(message, options)
    this.retryAfter = retryAfter
  }
}

/** The subscription has no such price. */
export class ItemNotFound extends BillingError {
  readonly code = 'item_not_found'
  override readonly status = 404
}

/** What was given as a tax id cannot be one. Nothing happened. */
export class InvalidTaxId extends ProviderError {
  readonly code = 'invalid_tax_id'
}

/** Tax is to be worked out from the customer's address, and there is none, or too little of it. Nothing happened. */
export class TaxLocationUnknown extends ProviderError {
  readonly code = 'tax_location_unknown'
  override readonly status = 409
}

/** There is no such hosted page of this user. */
export class CheckoutNotFound extends BillingError {
  readonly code = 'checkout_not_found'
  override readonly status = 404
}

/** A webhook that the provider did not sign. */
export class InvalidSignature extends BillingError {
  readonly code = 'invalid_signature'
}

/** An invoice was asked for, or somebody came back from a hosted page, and nobody is signed in. */
export class Unauthenticated extends BillingError {
  readonly code = 'unauthenticated'
  override readonly status = 401
}

/** There is nothing at this address. */
export class NotFound extends BillingError {
  readonly code = 'not_found'
  override readonly status = 404
}
