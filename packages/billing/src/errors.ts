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
  | 'provider_chosen'
  | 'no_subscription'
  | 'subscription_ended'
  | 'not_on_grace_period'
  | 'unsupported'
  | 'no_customer'
  | 'no_payment_method'
  | 'payment_failed'
  | 'payment_action_required'
  | 'provider_rejected'
  | 'provider_unavailable'
  | 'provider_misconfigured'
  | 'busy'
  | 'user_not_found'
  | 'invoice_not_found'
  | 'invalid_signature'
  | 'unauthenticated'
  | 'not_found'
  | 'method_not_allowed'
  | 'payload_too_large'
  | 'request_cut_off'

/** `message` may be shown to the caller of the operation; what only we may see goes in `cause`. */
export abstract class BillingError extends Error {
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

export class InvalidAmount extends BillingError {
  readonly code = 'invalid_amount'
}

export class InvalidTaxPercentage extends BillingError {
  readonly code = 'invalid_tax_percentage'
}

export class AlreadySubscribed extends BillingError {
  readonly code = 'already_subscribed'
  override readonly status = 409
}

/** Money has moved through one provider, so that the other can no longer be chosen. */
export class ProviderChosen extends BillingError {
  readonly code = 'provider_chosen'
  override readonly status = 409
}

export class NoSubscription extends BillingError {
  readonly code = 'no_subscription'
  override readonly status = 404
}

export class SubscriptionEnded extends BillingError {
  readonly code = 'subscription_ended'
  override readonly status = 409
}

export class NotOnGracePeriod extends BillingError {
  readonly code = 'not_on_grace_period'
  override readonly status = 409
}

/** What this provider cannot do, such as quantities at Braintree. No call was made. */
export class Unsupported extends BillingError {
  readonly code = 'unsupported'
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

export class NoCustomer extends BillingError {
  readonly code = 'no_customer'
}

export class NoPaymentMethod extends BillingError {
  readonly code = 'no_payment_method'
}

export class UserNotFound extends BillingError {
  readonly code = 'user_not_found'
  override readonly status = 404
}

/** Another operation of the same user has not finished. Nothing was done: try again. */
export class Busy extends BillingError {
  readonly code = 'busy'
  override readonly status = 503
}

export interface ProviderFailure extends ErrorOptions {
  readonly provider: ProviderName
  /** The provider's own code: `card_declined`, `2001`, `91904`. */
  readonly providerCode: string | null
}

/** A provider said no, or said nothing. */
export abstract class ProviderError extends BillingError {
  readonly provider: ProviderName
  readonly providerCode: string | null

  constructor(message: string, failure: ProviderFailure) {
    super(message, failure)
    this.provider = failure.provider
    this.providerCode = failure.providerCode
  }
}

export class UnknownPlan extends ProviderError {
  readonly code = 'unknown_plan'
}

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

const OPEN: readonly BillingErrorCode[] = ['provider_unavailable', 'busy']

/**
 * Whether an intent has definitely failed. After anything else, such as a lost answer or a database
 * that is away, the provider may have done what was asked.
 */
export function isFinal(error: unknown): boolean {
  return error instanceof BillingError && !OPEN.includes(error.code)
}

export class InvoiceNotFound extends BillingError {
  readonly code = 'invoice_not_found'
  override readonly status = 404
}

export class InvalidSignature extends BillingError {
  readonly code = 'invalid_signature'
}

export class Unauthenticated extends BillingError {
  readonly code = 'unauthenticated'
  override readonly status = 401
}

export class NotFound extends BillingError {
  readonly code = 'not_found'
  override readonly status = 404
}

export class MethodNotAllowed extends BillingError {
  readonly code = 'method_not_allowed'
  override readonly status = 405
}

/** The caller went away before its request had arrived; nobody reads the answer. */
export class RequestCutOff extends BillingError {
  readonly code = 'request_cut_off'
  override readonly status = 400
}

export class PayloadTooLarge extends BillingError {
  readonly code = 'payload_too_large'
  override readonly status = 413
}
