import type { EndReason, Subscription } from '@tollgate/billing'
import { formatDay } from './dates.ts'

export interface StateDescription {
  readonly label: string
  readonly tone: 'good' | 'warning' | 'bad' | 'quiet'
  readonly sentence: string
}

/** What the page asks of a subscription: billing's own functions decide, the words are ours. */
export type Condition = Pick<
  Subscription,
  'ended' | 'incomplete' | 'onGracePeriod' | 'pastDue' | 'onTrial' | 'trialEndsAt' | 'endsAt'
>

/** What only the provider can tell; null where it did not. */
export interface Told {
  readonly periodEndsAt: Date | null
  readonly endReason: EndReason | null
}

const BECAUSE: Readonly<Record<EndReason, string>> = {
  cancelled: 'It was cancelled, and ended',
  payment_failed: 'The payment failed, so it ended',
  payment_disputed: 'A payment was disputed, so it ended',
}

/** The first that applies. */
export function describeState(
  subscription: Condition,
  { periodEndsAt, endReason }: Told,
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
  if (subscription.pastDue()) {
    const sentence =
      'The last payment failed and will be tried again. You can change the card before that.'
    return { label: 'Payment failed', tone: 'bad', sentence }
  }
  if (subscription.onTrial()) {
    const sentence = `Trial until ${day(trialEndsAt)}. The first payment is on that day.`
    return { label: 'Trial', tone: 'good', sentence }
  }
  const sentence = periodEndsAt ? `The next payment is on ${day(periodEndsAt)}.` : 'It is running.'
  return { label: 'Active', tone: 'good', sentence }
}

function day(date: Date | null): string {
  return date ? formatDay(date) : 'a day we do not know'
}
