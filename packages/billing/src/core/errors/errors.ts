import { recognizeCopies } from '@tollgate/http'
import type { ProviderName } from '../values/provider-name.ts'
import type { DifferentTerm } from './different-term.ts'

/** The HTTP status that a route responds with, by error code. */
const STATUS = {
  invalid_argument: 400,
  invalid_amount: 400,
  invalid_tax_percentage: 400,
  unknown_price: 400,
  unknown_coupon: 400,
  invalid_payment_token: 400,
  already_subscribed: 409,
  trial_used: 409,
  provider_chosen: 409,
  transfer_refused: 409,
  no_subscription: 404,
  subscription_ended: 409,
  not_on_grace_period: 409,
  payment_overdue: 402,
  unsupported: 400,
  no_customer: 400,
  no_payment_method: 400,
  payment_failed: 402,
  payment_action_required: 402,
  provider_rejected: 400,
  provider_unavailable: 503,
  provider_misconfigured: 500,
  busy: 503,
  database_unavailable: 503,
  user_not_found: 404,
  invoice_not_found: 404,
  invoice_paid: 409,
  charge_not_found: 404,
  authorization_not_open: 409,
  credit_note_not_found: 404,
  checkout_not_found: 404,
  payment_method_not_found: 404,
  payment_method_in_use: 409,
  item_not_found: 404,
  amount_too_large: 400,
  refund_refused: 400,
  refund_not_possible_yet: 409,
  promotion_code_refused: 400,
  too_many_attempts: 429,
  invalid_tax_id: 400,
  tax_location_unknown: 409,
  invalid_signature: 400,
  unauthenticated: 401,
  not_found: 404,
} as const

/** Machine-readable reason of an error. Each error class has its own code. */
export type BillingErrorCode = keyof typeof STATUS

/**
 * Base class of all errors that billing throws on purpose. The message may be shown to the caller;
 * internal details are in `cause`.
 */
export abstract class BillingError extends Error {
  /**
   * Machine-readable reason of the error. Use it to tell errors apart: it works across bundles and
   * copies of this package.
   */
  abstract readonly code: BillingErrorCode
  /** The HTTP status that a route responds with for this error. */
  readonly status: number = 400

  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = new.target.name
  }
}

recognizeCopies(BillingError, '@tollgate/billing/BillingError')

/** Constructor options of errors that a provider caused. */
export interface ProviderFailure extends ErrorOptions {
  /** The provider that caused the error. */
  readonly provider: ProviderName
  /**
   * The provider's own error code, such as `card_declined`, `2001` or `91904`. `null` if the
   * provider sent none.
   */
  readonly providerCode: string | null
}

/** Base class of errors that a provider caused by rejecting a request or not responding. */
export abstract class ProviderError extends BillingError {
  /** The provider that caused the error. */
  readonly provider: ProviderName
  /**
   * The provider's own error code, such as `card_declined` or `2001`. `null` if the provider sent
   * none.
   */
  readonly providerCode: string | null

  constructor(message: string, failure: ProviderFailure) {
    super(message, failure)
    this.provider = failure.provider
    this.providerCode = failure.providerCode
  }
}

/** Makes the base class of errors with this code and its HTTP status. */
export function defineError<Code extends BillingErrorCode>(
  code: Code,
): abstract new (
  message: string,
  options?: ErrorOptions,
) => BillingError & { readonly code: Code }
export function defineError<Code extends BillingErrorCode>(
  code: Code,
  Base: typeof ProviderError,
): abstract new (
  message: string,
  failure: ProviderFailure,
) => ProviderError & { readonly code: Code }
export function defineError(
  code: BillingErrorCode,
  Base: abstract new (message: string, failure: ProviderFailure) => BillingError = BillingError,
) {
  abstract class CodedError extends Base {
    override readonly code = code
    override readonly status: number = STATUS[code]
  }
  return CodedError
}

/**
 * An argument is invalid, such as a trial of -3 days or half a seat. Thrown before any request is
 * sent.
 */
export class InvalidArgument extends defineError('invalid_argument') {}

/**
 * An amount is not a positive whole number of the currency's smallest unit, or its currency is
 * unknown.
 */
export class InvalidAmount extends defineError('invalid_amount') {}

/** A tax percentage is below 0, above 100, or has more than two decimals. */
export class InvalidTaxPercentage extends defineError('invalid_tax_percentage') {}

/** A subscription with different terms already has this name. Nothing was changed or charged. */
export class AlreadySubscribed extends defineError('already_subscribed') {
  /**
   * The terms that differ from those of the running subscription. Empty if the terms were not
   * compared.
   */
  readonly terms: readonly DifferentTerm[]

  constructor(
    message: string,
    { terms = [], ...options }: ErrorOptions & { readonly terms?: readonly DifferentTerm[] } = {},
  ) {
    super(message, options)
    this.terms = terms
  }
}

/**
 * The owner has already had a free trial, and the option `trials` allows only one. Nothing was
 * changed or charged.
 */
export class TrialUsed extends defineError('trial_used') {}

/**
 * The provider can no longer be changed, because payments were made or are still due at the current
 * one.
 */
export class ProviderChosen extends defineError('provider_chosen') {}

/** Why a customer cannot be transferred to another owner. */
export type TransferRefusal = 'same_owner' | 'has_customer' | 'has_subscription' | 'other_provider'

/** `transferTo()` cannot transfer the customer to the given owner. Nothing was changed. */
export class TransferRefused extends defineError('transfer_refused') {
  /**
   * - `same_owner`: the customer already belongs to that owner.
   * - `has_customer`, `has_subscription`: the new owner has, or had, a customer or subscriptions
   * already.
   * - `other_provider`: the new owner has chosen another provider.
   */
  readonly reason: TransferRefusal

  constructor(message: string, { reason }: { readonly reason: TransferRefusal }) {
    super(message)
    this.reason = reason
  }
}

/** The owner has no subscription with this name. */
export class NoSubscription extends defineError('no_subscription') {}

/** The subscription has ended and cannot be changed. */
export class SubscriptionEnded extends defineError('subscription_ended') {}

/** The subscription cannot be resumed: it was not cancelled, or it has ended already. */
export class NotOnGracePeriod extends defineError('not_on_grace_period') {}

/**
 * The change would credit time that was not paid for. If an invoice is open, call `payNow()` first;
 * otherwise change without proration. Nothing was changed.
 */
export class PaymentOverdue extends defineError('payment_overdue') {}

/**
 * The provider does not support this operation, such as quantities at Braintree. No request was
 * sent.
 */
export class Unsupported extends defineError('unsupported') {
  /** The provider that does not support the operation. */
  readonly provider: ProviderName
  /** The missing capability, such as `quantities`. */
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

/** The user has no customer at the provider yet. Subscribing or adding a card creates one. */
export class NoCustomer extends defineError('no_customer') {}

/** The customer has no payment method: no card and no PayPal account. */
export class NoPaymentMethod extends defineError('no_payment_method') {}

/** The application's table has no row with this id. */
export class UserNotFound extends defineError('user_not_found') {}

/**
 * Another operation of the same owner is still running, or usage that must be reported to the
 * provider first could not be sent. Nothing was changed; try again.
 */
export class Busy extends defineError('busy') {}

/**
 * The application's database is unavailable, failing over, full, or too busy. The operation may or
 * may not have been carried out; repeating it is safe.
 */
export class DatabaseUnavailable extends defineError('database_unavailable') {}

/** The provider has no price (or plan) with this id. */
export class UnknownPrice extends defineError('unknown_price', ProviderError) {}

/** The provider has no coupon with this id, or it has expired. */
export class UnknownCoupon extends defineError('unknown_coupon', ProviderError) {}

/** The card token or nonce is unknown, already used, or belongs to another customer. */
export class InvalidPaymentToken extends defineError('invalid_payment_token', ProviderError) {}

/**
 * The provider rejected the request for a reason that has no class of its own. Nothing was changed.
 */
export class ProviderRejected extends defineError('provider_rejected', ProviderError) {}

/**
 * The provider did not respond, or asked to retry later. The operation may or may not have been
 * carried out; repeating it is safe.
 */
export class ProviderUnavailable extends defineError('provider_unavailable', ProviderError) {}

/** The API keys are wrong, or a setting is missing in the provider's dashboard. */
export class ProviderMisconfigured extends defineError('provider_misconfigured', ProviderError) {}

const UNCERTAIN: readonly BillingErrorCode[] = [
  'provider_unavailable',
  'database_unavailable',
  'busy',
]

/**
 * Whether the operation has definitely failed. After any other error, such as a lost response or an
 * unavailable database, the provider may have carried it out.
 */
export function isDefiniteFailure(error: unknown): boolean {
  return error instanceof BillingError && !UNCERTAIN.includes(error.code)
}

/** The user has no invoice with this id. */
export class InvoiceNotFound extends defineError('invoice_not_found') {}

/**
 * The invoice cannot be voided, because it is paid, or a draft that credit will pay. Refund it
 * instead.
 */
export class InvoicePaid extends defineError('invoice_paid') {}

/** The user has no credit note with this id. */
export class CreditNoteNotFound extends defineError('credit_note_not_found') {}

/** The user has no charge with this id. */
export class ChargeNotFound extends defineError('charge_not_found') {}

/** State of a payment that was authorized for a later capture. */
export type AuthorizationState = 'pending' | 'authorized' | 'captured' | 'released' | 'expired'

/**
 * The authorization is not open, so its money can be neither captured nor released. Nothing was
 * changed.
 */
export class AuthorizationNotOpen extends defineError('authorization_not_open') {
  /**
   * The current state: `captured`, `released`, `expired`, or `pending` until the customer confirms
   * the payment.
   */
  readonly reason: AuthorizationState

  constructor(message: string, { reason }: { readonly reason: AuthorizationState }) {
    super(message)
    this.reason = reason
  }
}

/** The user has no payment method with this id. */
export class PaymentMethodNotFound extends defineError('payment_method_not_found') {}

/**
 * The payment method cannot be deleted, because a subscription is charged to it. Nothing was
 * changed.
 */
export class PaymentMethodInUse extends defineError('payment_method_in_use') {}

/** The refund is larger than what is left of the charge. Nothing was refunded. */
export class AmountTooLarge extends defineError('amount_too_large') {}

/** The provider does not refund this charge. Nothing was refunded. */
export class RefundRefused extends defineError('refund_refused', ProviderError) {}

/**
 * The charge, or a part of it, cannot be refunded before it is settled. Nothing was refunded; try
 * again later.
 */
export class RefundNotPossibleYet extends defineError('refund_not_possible_yet', ProviderError) {}

/**
 * Why a promotion code cannot be used. `unknown` also stands for expired codes and codes of other
 * customers, so that they cannot be discovered by guessing.
 */
export type CodeRefusal = 'unknown' | 'not_first_time' | 'below_minimum' | 'not_applicable'

/** The promotion code gives no discount for this purchase. Nothing was changed. */
export class PromotionCodeRefused extends defineError('promotion_code_refused', ProviderError) {
  /** Why the promotion code was refused. Safe to show to the customer. */
  readonly reason: CodeRefusal

  constructor(message: string, failure: ProviderFailure & { readonly reason: CodeRefusal }) {
    super(message, failure)
    this.reason = failure.reason
  }
}

/**
 * The user has tried too many promotion codes that cannot be used. No request was sent to the
 * provider.
 */
export class TooManyAttempts extends defineError('too_many_attempts') {
  /** Seconds until the next attempt is allowed. */
  readonly retryAfter: number

  constructor(
    message: string,
    { retryAfter, ...options }: ErrorOptions & { readonly retryAfter: number },
  ) {
    super(message, options)
    this.retryAfter = retryAfter
  }
}

/** The subscription has no item with this price. */
export class ItemNotFound extends defineError('item_not_found') {}

/** The tax id is not valid for its type. Nothing was changed. */
export class InvalidTaxId extends defineError('invalid_tax_id', ProviderError) {}

/**
 * Automatic tax needs the customer's address, which is missing or incomplete. Nothing was changed.
 */
export class TaxLocationUnknown extends defineError('tax_location_unknown', ProviderError) {}

/** The user has no hosted checkout page with this id. */
export class CheckoutNotFound extends defineError('checkout_not_found') {}

/** The signature of a webhook is invalid, so the provider did not send it. */
export class InvalidSignature extends defineError('invalid_signature') {}

/**
 * The caller is not signed in, but tried to download an invoice or to return from a hosted page.
 */
export class Unauthenticated extends defineError('unauthenticated') {}

/** No route exists at this path. */
export class NotFound extends defineError('not_found') {}
