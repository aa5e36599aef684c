import {
  type BillingErrorCode,
  type CodeRefusal,
  isBillingError,
  type PaymentFailed,
} from '@tollgate/billing'
import type { PageOptions } from '../../parts/render.tsx'

/** What somebody is told who could not have what they asked for. */
export interface Problem {
  readonly message: string
  readonly status: NonNullable<PageOptions['status']>
}

/** A field of the form says something that cannot be. */
export class BadChoice extends Error {
  override readonly name = 'BadChoice'
}

const SORRY = 'The payment provider did not answer. Nothing may have happened: please look again.'

const NO_CODE = 'There is no such code, or it cannot be used here.'

/** Why a code was refused, as far as whoever typed it may know. */
const REFUSED_CODES: Readonly<Record<CodeRefusal, string>> = {
  unknown: NO_CODE,
  not_first_time: 'This code is for a first order.',
  below_minimum: 'This code is for larger orders.',
  not_applicable: 'This code takes nothing off here.',
}

/** In our words, since billing's are for developers. What is missing here is a fault, not an answer. */
const WORDS: Partial<Record<BillingErrorCode, Problem>> = {
  invalid_argument: { message: 'Something in the form is not as expected.', status: 422 },
  unknown_coupon: { message: NO_CODE, status: 422 },
  invalid_payment_token: {
    message:
      'This card could not be used. If you have sent the form twice, look below: the card may be there already.',
    status: 422,
  },
  payment_method_not_found: {
    message: 'This payment method is no longer there. Please look again.',
    status: 404,
  },
  payment_method_in_use: {
    message: 'Your subscription is paid by it. Make another one the default first.',
    status: 409,
  },
  no_payment_method: { message: 'There is no card yet. Please choose one.', status: 422 },
  no_customer: { message: 'There is no card yet. Please choose one.', status: 422 },
  already_subscribed: {
    message: 'You are subscribed already. Change the plan instead.',
    status: 409,
  },
  provider_chosen: {
    message: 'You have paid through the other provider before, so please go on there.',
    status: 409,
  },
  no_subscription: { message: 'There is no subscription to change.', status: 409 },
  subscription_ended: {
    message: 'This subscription has ended. You can subscribe again.',
    status: 409,
  },
  not_on_grace_period: {
    message: 'Only a cancelled subscription can be resumed, and only before it ends.',
    status: 409,
  },
  payment_overdue: {
    message: 'Your last bill is not paid yet. Please pay it first, then change the plan.',
    status: 409,
  },
  unsupported: { message: 'The payment provider does not offer this.', status: 422 },
  payment_action_required: {
    message: 'Your bank wants you to confirm the payment first.',
    status: 422,
  },
  busy: { message: 'Your last change is still under way. Please look again.', status: 503 },
  provider_unavailable: { message: SORRY, status: 503 },
}

/** The problem to show, or null for an error that nobody at the page can do anything about. */
export function describeProblem(error: unknown): Problem | null {
  if (error instanceof BadChoice) return { message: error.message, status: 422 }
  if (isBillingError(error, 'payment_failed')) return { message: declined(error), status: 422 }
  if (isBillingError(error, 'promotion_code_refused')) {
    return { message: REFUSED_CODES[error.reason], status: 422 }
  }
  if (isBillingError(error, 'too_many_attempts')) {
    return { message: tooMany(error.retryAfter), status: 429 }
  }
  return isBillingError(error) ? (WORDS[error.code] ?? null) : null
}

function tooMany(seconds: number): string {
  const minutes = Math.ceil(seconds / 60)
  const wait = minutes === 1 ? 'a minute' : `${minutes} minutes`
  return `Too many codes were tried. Please try again in ${wait}.`
}

/** The provider has looked at the card and would not have it. */
export function isDeclined(error: unknown): boolean {
  return isBillingError(error, 'payment_failed') || isBillingError(error, 'invalid_payment_token')
}

/** Stripe writes sentences for the customer, Braintree the bank's own few words. */
function declined({ provider, message }: PaymentFailed): string {
  const reason =
    provider === 'stripe'
      ? message.replace(/\.*$/, '.')
      : `Your bank declined the card: ${message.replace(/\.*$/, '.')}`
  return `${reason} Nothing was charged; you can try another card.`
}
