import type Stripe from 'stripe'
import {
  BillingError,
  type CodeRefusal,
  InvalidPaymentToken,
  InvalidTaxId,
  NoCustomer,
  NoPaymentMethod,
  PromotionCodeRefused,
  type ProviderFailure,
  ProviderMisconfigured,
  ProviderRejected,
  ProviderUnavailable,
  TaxLocationUnknown,
  UnknownCoupon,
  UnknownPrice,
} from '../../core/errors/errors.ts'
import { PaymentActionRequired, PaymentFailed } from '../../core/errors/payment-errors.ts'

type StripeErrorFactory = (
  error: Stripe.errors.StripeError,
  failure: ProviderFailure,
) => BillingError

/** Maps errors by the SDK's class name, because the SDK may not be installed. */
const byType: Readonly<Record<string, StripeErrorFactory>> = {
  StripeCardError: paymentError,
  StripeInvalidRequestError: requestError,
  StripeIdempotencyError: (_error, failure) => new ProviderRejected(KEY_IS_USED, failure),
  StripeAuthenticationError: (_error, failure) =>
    new ProviderMisconfigured('Stripe does not accept the secret key', failure),
  StripePermissionError: (error, failure) => new ProviderMisconfigured(error.message, failure),
  StripeRateLimitError: createStripeUnavailable,
  StripeAPIError: createStripeUnavailable,
  StripeConnectionError: createStripeUnavailable,
}

const KEY_IS_USED = 'This idempotency key was used for something else'

/** Makes the error for a caller's idempotency key that was already used for another request. */
export function createIdempotencyKeyReusedError(what: string): ProviderRejected {
  return new ProviderRejected(`${KEY_IS_USED}: ${what}`, {
    provider: 'stripe',
    providerCode: 'idempotency_error',
  })
}

/** Codes of payments (charges, invoices, subscriptions) that the customer has to confirm first. */
const CONFIRMATION_CODES: readonly (string | undefined)[] = [
  'authentication_required',
  'invoice_payment_intent_requires_action',
  'subscription_payment_intent_requires_action',
]

/** Converts an error of Stripe to a BillingError. Other errors are returned as they are. */
export function toBillingError(error: unknown): unknown {
  if (error instanceof BillingError || !(error instanceof Error)) return error
  const { type } = error as { type?: unknown }
  const map = typeof type === 'string' && Object.hasOwn(byType, type) ? byType[type] : undefined
  if (!map) return error
  const stripeError = error as Stripe.errors.StripeError
  return map(stripeError, {
    provider: 'stripe',
    providerCode: stripeError.code ?? null,
    cause: error,
  })
}

function paymentError(error: Stripe.errors.StripeError, failure: ProviderFailure): BillingError {
  const intent = error.payment_intent
  if (CONFIRMATION_CODES.includes(error.code) && intent?.client_secret) {
    return new PaymentActionRequired(error.message, {
      ...failure,
      payment: { id: intent.id, clientSecret: intent.client_secret },
    })
  }
  return new PaymentFailed(error.message, {
    ...failure,
    declineCode: error.decline_code ?? null,
  })
}

function requestError(error: Stripe.errors.StripeError, failure: ProviderFailure): BillingError {
  const param = error.param ?? ''
  if (isOtherModeError(error)) return new ProviderMisconfigured(error.message, failure)
  if (HAS_NO_CARD.test(error.message)) {
    return new NoPaymentMethod('A payment is due immediately, and the customer has no card', {
      cause: error,
    })
  }
  if (error.code === 'resource_missing' && /^No such customer/.test(error.message)) {
    return new NoCustomer('The customer was deleted', { cause: error })
  }
  if (error.code === 'resource_missing' || error.code === 'token_already_used') {
    if (/coupon|promotion_code/.test(param)) return new UnknownCoupon(error.message, failure)
    if (/price/.test(param)) return new UnknownPrice(error.message, failure)
    if (/payment_method|token|source/.test(param) || /PaymentMethod|token/i.test(error.message)) {
      return new InvalidPaymentToken(error.message, failure)
    }
  }
  if (isAboutCode(error)) return promotionCodeRefused(error, failure)
  if (error.code === 'tax_id_invalid') return new InvalidTaxId(error.message, failure)
  if (error.code === 'customer_tax_location_invalid') {
    return new TaxLocationUnknown(error.message, failure)
  }
  return new ProviderRejected(error.message, failure)
}

/**
 * Stripe's messages about a missing payment method when a subscription starts or changes, and when
 * an invoice is paid.
 */
const HAS_NO_CARD = /no attached payment source|There is no `default_payment_method` set/

function isAboutCode({ param, message }: Stripe.errors.StripeError): boolean {
  return /promotion_code/.test(param ?? '') || /\bpromotion code\b/i.test(message)
}

/** Makes the error for a promotion code that is used up. */
export function createPromotionCodeUsedUpError(): PromotionCodeRefused {
  const failure = { provider: 'stripe', providerCode: null } as const
  return new PromotionCodeRefused('This code cannot be used', { ...failure, reason: 'unknown' })
}

const CODE_REFUSALS: ReadonlyArray<readonly [RegExp, CodeRefusal, string]> = [
  [/not_first_time|prior transaction/, 'not_first_time', 'This code is only for a first order'],
  [/minimum/, 'below_minimum', 'The order is below the minimum of this code'],
  [/currency|does not apply/, 'not_applicable', 'This code does not apply to this order'],
]

/**
 * Builds the error for a refused promotion code. Stripe's error code and the reason why a code
 * expired are only in `cause`, so that a person who guesses codes cannot tell an expired code from
 * an unknown one.
 */
function promotionCodeRefused(
  error: Stripe.errors.StripeError,
  failure: ProviderFailure,
): BillingError {
  const said = `${error.code} ${error.message}`
  const [, reason, message] = CODE_REFUSALS.find(([words]) => words.test(said)) ?? [
    null,
    'unknown' as const,
    'This code cannot be used',
  ]
  return new PromotionCodeRefused(message, { ...failure, providerCode: null, reason })
}

function createStripeUnavailable(
  _error: Stripe.errors.StripeError,
  failure: ProviderFailure,
): BillingError {
  return new ProviderUnavailable('Stripe did not answer, or asked to try again later', failure)
}

/** Whether Stripe rejected the request and would reject it again. Never true for lost responses. */
export function isStripeRefusal(error: unknown): boolean {
  return (error as { type?: unknown }).type === 'StripeInvalidRequestError'
}

export function isMissingObjectError(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (isOtherModeError(error)) return false
  const { code } = error as { code?: unknown }
  // The `/v2` API uses another code.
  return code === 'resource_missing' || code === 'not_found'
}

/**
 * Whether the object exists in the other mode (live or test): then the API key is wrong and nothing
 * was deleted.
 */
function isOtherModeError({ message }: Error): boolean {
  return /a similar object exists in (?:live|test) mode/.test(message)
}
