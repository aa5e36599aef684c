import {
  type AlreadySubscribed,
  type BillingError,
  type BillingErrorCode,
  type CodeRefusal,
  isBillingError,
  type PaymentFailed,
  type SubscriptionTerm,
} from '@tollgate/billing'
import type { PageMessages } from '../../../messages/en.ts'
import { ENGLISH, type PageText } from '../../../messages/messages.ts'
import { defineError } from '../../../service-error.ts'
import type { PageOptions } from '../../parts/render.tsx'

/** A message that tells a person why their request was not carried out. */
export interface BillingProblem {
  readonly message: string
  /** Whether the code for a discount was rejected. */
  readonly isOfCode: boolean
  readonly status: NonNullable<PageOptions['status']>
}

type ProblemId = Exclude<
  Extract<keyof PageMessages, `problem.${string}`>,
  | 'problem.subscribed'
  | 'problem.tooManyCodes'
  | 'problem.declined'
  | 'problem.bankDeclined'
  | LimitId
>

/** Messages that name the limits of a quantity. */
type LimitId = 'problem.quantity' | 'problem.oneQuantity'

interface Limits {
  readonly min: number
  readonly max: number
}

/** Thrown if a field of a form has an invalid value. */
export class BadChoice extends defineError('invalid-input') {
  readonly #id: ProblemId | LimitId
  readonly #limits: Limits

  constructor(id: ProblemId | LimitId, limits: Limits = { min: 0, max: 0 }) {
    super(ENGLISH(id as LimitId, limits))
    this.#id = id
    this.#limits = limits
  }

  /** Returns the message in the language of the page. */
  describe(t: PageText): string {
    return t(this.#id as LimitId, this.#limits)
  }
}

/** Messages for rejected codes, as far as the person may know the reason. */
const REFUSED_CODES: Readonly<Record<CodeRefusal, ProblemId>> = {
  unknown: 'problem.noCode',
  not_first_time: 'problem.firstOrder',
  below_minimum: 'problem.largerOrder',
  not_applicable: 'problem.codeTakesNothing',
}

/**
 * Messages for people; those of billing are for developers. An error without an entry is
 * unexpected.
 */
const MESSAGES: Partial<Record<BillingErrorCode, ProblemId>> = {
  invalid_argument: 'problem.form',
  unknown_coupon: 'problem.noCode',
  invalid_payment_token: 'problem.card',
  payment_method_not_found: 'problem.methodGone',
  payment_method_in_use: 'problem.methodInUse',
  no_payment_method: 'problem.noCard',
  no_customer: 'problem.noCard',
  provider_chosen: 'problem.providerChosen',
  no_subscription: 'problem.noSubscription',
  subscription_ended: 'problem.ended',
  not_on_grace_period: 'problem.notCancelled',
  payment_overdue: 'problem.overdue',
  unsupported: 'problem.unsupported',
  payment_action_required: 'problem.confirmFirst',
  tax_location_unknown: 'problem.taxLocation',
  busy: 'problem.busy',
  provider_unavailable: 'problem.away',
}

/** Describes an error in words for the person. `null` if the error is unexpected. */
export function describeProblem(error: unknown, t: PageText = ENGLISH): BillingProblem | null {
  if (error instanceof BadChoice)
    return { message: error.describe(t), status: 422, isOfCode: false }
  if (!isBillingError(error)) return null
  const message = chooseMessage(error, t)
  return message === null
    ? null
    : { message, status: statusOf(error), isOfCode: CODE_PROBLEMS.includes(error.code) }
}

const CODE_PROBLEMS: readonly BillingErrorCode[] = [
  'promotion_code_refused',
  'unknown_coupon',
  'too_many_attempts',
]

/** The status of billing's error, or 422 for an invalid form. */
function statusOf({ status }: BillingError): BillingProblem['status'] {
  return STATUSES.find((each) => each === status) ?? 422
}

const STATUSES = [402, 404, 409, 429, 503] as const

function chooseMessage(error: BillingError, t: PageText): string | null {
  if (isBillingError(error, 'payment_failed')) return describeDecline(error, t)
  if (isBillingError(error, 'promotion_code_refused')) return t(REFUSED_CODES[error.reason])
  if (isBillingError(error, 'too_many_attempts')) {
    return t('problem.tooManyCodes', { minutes: Math.ceil(error.retryAfter / 60) })
  }
  if (isBillingError(error, 'already_subscribed')) return describeAlreadySubscribed(error, t)
  const id = MESSAGES[error.code]
  return id ? t(id) : null
}

/** Messages that name the place on the billing page where a term of a running subscription can be changed. */
const MESSAGE_BY_TERM: Partial<
  Record<SubscriptionTerm, Extract<keyof PageMessages, `where.${string}`>>
> = {
  provider: 'where.provider',
  plan: 'where.plan',
  quantity: 'where.quantity',
  promotionCode: 'where.promotionCode',
  coupon: 'where.coupon',
  trial: 'where.trial',
  card: 'where.card',
  cancellation: 'where.cancellation',
}

function describeAlreadySubscribed({ terms }: AlreadySubscribed, t: PageText): string {
  const found = terms.flatMap(({ term }) => MESSAGE_BY_TERM[term] ?? [])
  const ids = found.length > 0 ? found : (['where.plan'] as const)
  return t('problem.subscribed', { hint: ids.map((id) => t(id)).join(' ') })
}

/** Whether the provider checked the card and declined it. */
export function isDeclined(error: unknown): boolean {
  return isBillingError(error, 'payment_failed') || isBillingError(error, 'invalid_payment_token')
}

type DeclineId = Extract<keyof PageMessages, `declined.${string}`>

/** Reasons of both providers that have a text of ours. */
const DECLINES: Partial<Record<string, DeclineId>> = {
  insufficient_funds: 'declined.funds',
  'Insufficient Funds': 'declined.funds',
  expired_card: 'declined.expired',
  'Expired Card': 'declined.expired',
  incorrect_cvc: 'declined.securityCode',
  'Card Issuer Declined CVV': 'declined.securityCode',
}

function describeDecline(error: PaymentFailed, t: PageText): string {
  const known = DECLINES[error.declineCode ?? '']
  return t('problem.declined', { reason: known ? t(known) : describeUnknownDecline(error, t) })
}

/** Providers give reasons in English: Stripe in sentences for the customer, Braintree in the bank's own few words. */
function describeUnknownDecline({ provider, message }: PaymentFailed, t: PageText): string {
  if (t.language !== 'en') return t('declined.other')
  const said = message.replace(/\.*$/, '.')
  return provider === 'stripe' ? said : t('problem.bankDeclined', { reason: said })
}
