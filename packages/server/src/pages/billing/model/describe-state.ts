import {
  type EndReason,
  formatMoney,
  type PaymentActionRequired,
  type PaymentFailed,
  type Subscription,
  type UpcomingInvoice,
} from '@tollgate/billing'
import { formatDay } from './dates.ts'

export interface StateDescription {
  readonly label: string
  readonly tone: 'good' | 'warning' | 'bad' | 'quiet'
  readonly sentence: string
}

/** What the page asks of a subscription: billing's own functions decide, the words are ours. */
export type Condition = Pick<
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

/** What only the provider can tell; null where it did not. */
export interface Told {
  readonly periodEndsAt: Date | null
  readonly endReason: EndReason | null
  /** Why a payment is missing. */
  readonly unpaid?: Pick<PaymentActionRequired | PaymentFailed, 'code'> | null
  /** The next bill. */
  readonly upcoming: Pick<UpcomingInvoice, 'date' | 'total' | 'lines'> | null
}

const BECAUSE: Readonly<Record<EndReason, string>> = {
  cancelled: 'It was cancelled, and ended',
  payment_failed: 'The payment failed, so it ended',
  payment_disputed: 'A payment was disputed, so it ended',
}

/** The first that applies. Whoever has a card, or another way to pay, is charged when a trial ends. */
export function describeState(
  subscription: Condition,
  { periodEndsAt, endReason, upcoming, unpaid }: Told,
  hasCard: boolean,
): StateDescription {
  const { endsAt, trialEndsAt } = subscription
  if (subscription.ended()) {
    const ended = endReason ? BECAUSE[endReason] : 'It ended'
    return { label: 'Ended', tone: 'quiet', sentence: `${ended} on ${day(endsAt)}.` }
  }
  if (subscription.incomplete()) {
    return {
      label: 'Not paid',
      tone: 'bad',
      sentence: 'The payment is not complete, so the subscription is not open yet.',
    }
  }
  if (subscription.onGracePeriod()) {
    const sentence = `It is cancelled and stays open until ${day(endsAt)}. Nothing more will be charged.`
    return { label: 'Cancelled', tone: 'warning', sentence }
  }
  if (subscription.pastDue() && unpaid?.code === 'payment_action_required') {
    const sentence = 'The last payment waits until you have confirmed it at your bank.'
    return { label: 'Not confirmed', tone: 'bad', sentence }
  }
  if (subscription.pastDue()) {
    const sentence =
      'The last payment failed and will be tried again. You can change the card before that.'
    return { label: 'Payment failed', tone: 'bad', sentence }
  }
  if (subscription.paused()) {
    const sentence = 'It is paused: nothing is charged until it goes on.'
    return { label: 'Paused', tone: 'quiet', sentence }
  }
  if (subscription.onTrial()) {
    const then = hasCard
      ? `The first payment is on that day${amount(upcoming)}.`
      : 'It ends on that day unless you add a card.'
    const sentence = `Trial until ${day(trialEndsAt)}. ${then}`
    return { label: 'Trial', tone: hasCard ? 'good' : 'warning', sentence }
  }
  const next = upcoming?.date ?? periodEndsAt
  const sentence = next
    ? `The next payment is on ${day(next)}${amount(upcoming)}.`
    : 'It is running.'
  return { label: 'Active', tone: 'good', sentence }
}

/** What credit pays whole is no payment; what costs nothing needs no credit. */
function amount(upcoming: Told['upcoming']): string {
  if (!upcoming) return ''
  const { total, lines } = upcoming
  if (total.amount !== 0) return `: ${formatMoney(total)}`
  const isCredit = lines.some((line) => line.kind === 'balance' && line.amount.amount < 0)
  return isCredit ? ': your credit pays it' : ': nothing is due'
}

function day(date: Date | null): string {
  return date ? formatDay(date) : 'a day we do not know'
}
