import type {
  ActiveDiscount,
  EndReason,
  PaymentActionRequired,
  PaymentFailed,
  Subscription,
  UpcomingInvoice,
} from '@tollgate/billing'
import { formatDay } from '../../../dates.ts'
import { ENGLISH, formatAmount, type PageText } from '../../../messages/messages.ts'

export interface StateDescription {
  readonly label: string
  readonly tone: 'good' | 'warning' | 'bad' | 'quiet'
  readonly sentence: string
}

/** The properties of a subscription that determine its description on the page. */
export type SubscriptionCondition = Pick<
  Subscription,
  | 'ended'
  | 'incomplete'
  | 'onGracePeriod'
  | 'pastDue'
  | 'paused'
  | 'onTrial'
  | 'trialEndsAt'
  | 'endsAt'
>

/**
 * Data for the description that only the provider has. A value is `null` if the provider is
 * unavailable.
 */
export interface ProviderData {
  readonly periodEndsAt: Date | null
  readonly endReason: EndReason | null
  /** Why a payment is missing. `null` if no payment is missing. */
  readonly unpaid?: Pick<PaymentActionRequired | PaymentFailed, 'code'> | null
  /** The next invoice. */
  readonly upcoming: Pick<UpcomingInvoice, 'date' | 'total' | 'lines'> | null
}

/**
 * Describes the state of a subscription in a label and a sentence. `hasCard` tells whether a
 * payment method is stored, which is charged when a trial ends.
 */
export function describeState(
  subscription: SubscriptionCondition,
  { periodEndsAt, endReason, upcoming, unpaid }: ProviderData,
  hasCard: boolean,
  t: PageText = ENGLISH,
): StateDescription {
  const { endsAt, trialEndsAt } = subscription
  if (subscription.ended()) {
    const sentence = t(endReason ? `state.ended.${endReason}` : 'state.ended.on', {
      date: day(endsAt, t),
    })
    return { label: t('state.ended'), tone: 'quiet', sentence }
  }
  if (subscription.incomplete()) {
    return { label: t('state.notPaid'), tone: 'bad', sentence: t('state.notPaid.text') }
  }
  if (subscription.onGracePeriod()) {
    const sentence = t('state.cancelled.text', { date: day(endsAt, t) })
    return { label: t('state.cancelled'), tone: 'warning', sentence }
  }
  if (subscription.pastDue() && unpaid?.code === 'payment_action_required') {
    return { label: t('state.notConfirmed'), tone: 'bad', sentence: t('state.notConfirmed.text') }
  }
  if (subscription.pastDue()) {
    return { label: t('state.failed'), tone: 'bad', sentence: t('state.failed.text') }
  }
  if (subscription.paused()) {
    return { label: t('state.paused'), tone: 'quiet', sentence: t('state.paused.text') }
  }
  if (subscription.onTrial()) {
    const date = day(trialEndsAt, t)
    if (!hasCard)
      return { label: t('state.trial'), tone: 'warning', sentence: t('state.trial.ends', { date }) }
    const sentence = upcoming
      ? t('state.trial.firstAmount', { date, amount: amountOf(upcoming, t) })
      : t('state.trial.first', { date })
    return { label: t('state.trial'), tone: 'good', sentence }
  }
  return {
    label: t('state.active'),
    tone: 'good',
    sentence: nextPayment(upcoming, periodEndsAt, t),
  }
}

function nextPayment(
  upcoming: ProviderData['upcoming'],
  periodEndsAt: Date | null,
  t: PageText,
): string {
  if (upcoming) {
    const date = day(upcoming.date ?? periodEndsAt, t)
    return t('state.active.nextAmount', { date, amount: amountOf(upcoming, t) })
  }
  return periodEndsAt
    ? t('state.active.next', { date: day(periodEndsAt, t) })
    : t('state.active.text')
}

/** Describes the amount of the next payment. A total of 0 is either covered by credit or free. */
function amountOf({ total, lines }: NonNullable<ProviderData['upcoming']>, t: PageText): string {
  if (total.amount !== 0) return formatAmount(total, t)
  const isCredit = lines.some((line) => line.kind === 'balance' && line.amount.amount < 0)
  return t(isCredit ? 'state.credit' : 'state.nothingDue')
}

function day(date: Date | null, t: PageText): string {
  return date ? formatDay(date, t.locale) : t('state.unknownDay')
}

/** Describes a discount as in `Spring: 25% off until 3 March 2027.` */
export function describeDiscount(discount: ActiveDiscount, t: PageText = ENGLISH): string {
  const { name, percentOff, amountOff, endsAt, billsLeft } = discount
  const text = amountOff
    ? formatAmount(amountOff, t)
    : t('discount.percent', { percent: percentOff ?? 0 })
  if (endsAt)
    return t('discount.until', { name, discount: text, date: formatDay(endsAt, t.locale) })
  if (billsLeft === null) return t('discount.always', { name, discount: text })
  return billsLeft === 1
    ? t('discount.once', { name, discount: text })
    : t('discount.bills', { name, discount: text, count: billsLeft })
}
