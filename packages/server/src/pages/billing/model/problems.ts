import {
  type AlreadySubscribed,
  type BillingError,
  type BillingErrorCode,
  type CodeRefusal,
  isBillingError,
  type PaymentFailed,
  type SubscriptionTerm,
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
const WORDS: Partial<Record<BillingErrorCode, string>> = {
  invalid_argument: 'Something in the form is not as expected.',
  unknown_coupon: NO_CODE,
  invalid_payment_token:
    'This card could not be used. If you have sent the form twice, look below: the card may be there already.',
  payment_method_not_found: 'This payment method is no longer there. Please look again.',
  payment_method_in_use: 'Your subscription is paid by it. Make another one the default first.',
  no_payment_method: 'There is no card yet. Please choose one.',
  no_customer: 'There is no card yet. Please choose one.',
  provider_chosen: 'You have paid through the other provider before, so please go on there.',
  no_subscription: 'There is no subscription to change.',
  subscription_ended: 'This subscription has ended. You can subscribe again.',
  not_on_grace_period: 'Only a cancelled subscription can be resumed, and only before it ends.',
  payment_overdue:
    'What you have now is not paid for. Please pay the bill that is open, or change the plan after the next one.',
  unsupported: 'The payment provider does not offer this.',
  payment_action_required: 'Your bank wants you to confirm the payment first.',
  busy: 'Your last change is still under way. Please look again.',
  provider_unavailable: SORRY,
}

/** The problem to show, or null for an error that nobody at the page can do anything about. */
export function describeProblem(error: unknown): Problem | null {
  if (error instanceof BadChoice) return { message: error.message, status: 422 }
  if (!isBillingError(error)) return null
  const message = wordsFor(error)
  return message === null ? null : { message, status: statusOf(error) }
}

/** Billing's own, but that a form which says what cannot be is answered with 422. */
function statusOf({ status }: BillingError): Problem['status'] {
  return STATUSES.find((each) => each === status) ?? 422
}

const STATUSES = [402, 404, 409, 429, 503] as const

function wordsFor(error: BillingError): string | null {
  if (isBillingError(error, 'payment_failed')) return declined(error)
  if (isBillingError(error, 'promotion_code_refused')) return REFUSED_CODES[error.reason]
  if (isBillingError(error, 'too_many_attempts')) return tooMany(error.retryAfter)
  if (isBillingError(error, 'already_subscribed')) return subscribedAlready(error)
  return WORDS[error.code] ?? null
}

/** Where the billing page changes a term of a subscription that runs. */
const WHERE: Partial<Record<SubscriptionTerm, string>> = {
  provider: 'To pay through the other provider, end this subscription first.',
  plan: 'You can change the plan below.',
  quantity: 'You can change the quantity below.',
  promotionCode: 'You can use your code below.',
  coupon: 'A discount is given when a subscription begins, so this one goes on as it is.',
  trial: 'A free trial is given when a subscription begins, so this one goes on as it is.',
  card: 'You can add another card below, under “Payment methods”.',
  cancellation: 'It was cancelled; you can resume it below.',
}

function subscribedAlready({ terms }: AlreadySubscribed): string {
  const where = terms.flatMap(({ term }) => WHERE[term] ?? [])
  const how = where.length > 0 ? where : [WHERE.plan]
  return `You are subscribed already, so nothing was changed or charged. ${how.join(' ')}`
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
