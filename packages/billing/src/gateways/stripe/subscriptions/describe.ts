import type Stripe from 'stripe'
import type { EndReason, ProviderSubscription } from '../../contract/subscription.ts'
import { idOf, toDate } from '../sdk/client.ts'

export function describe(subscription: Stripe.Subscription): ProviderSubscription {
  const [item] = subscription.items.data
  return {
    id: subscription.id,
    customerId: idOf(subscription.customer),
    plan: item?.price.id ?? '',
    status: subscription.status,
    isOver: subscription.status === 'canceled' || subscription.status === 'incomplete_expired',
    quantity: item?.quantity ?? 1,
    trialEndsAt: subscription.trial_end === null ? null : toDate(subscription.trial_end),
    endsAt: endOf(subscription),
    periodEndsAt: periodEndOf(subscription),
    paidUntil: periodEndOf(subscription),
    createdAt: toDate(subscription.created),
    name: subscription.metadata.name ?? null,
    nameDigest: null,
    operation: subscription.metadata.operation ?? null,
    taxedPrice: null,
    lastChargeAt: null,
    endReason: endReasonOf(subscription),
    raw: subscription,
  }
}

/** `canceled_at` is when it was asked for, not when access ends. */
function endOf(subscription: Stripe.Subscription): Date | null {
  const { ended_at, cancel_at, cancel_at_period_end } = subscription
  if (ended_at !== null) return toDate(ended_at)
  if (cancel_at !== null) return toDate(cancel_at)
  return cancel_at_period_end ? periodEndOf(subscription) : null
}

function periodEndOf({ items }: Stripe.Subscription): Date | null {
  const ends = items.data.map((item) => item.current_period_end)
  return ends.length > 0 ? toDate(Math.max(...ends)) : null
}

/** Every other reason, Stripe's newer ones included, is that somebody asked for it. */
const ENDED_BY: Readonly<Record<string, EndReason>> = {
  payment_failed: 'payment_failed',
  payment_disputed: 'payment_disputed',
}

function endReasonOf({ status, cancellation_details }: Stripe.Subscription): EndReason | null {
  if (status === 'incomplete_expired') return 'payment_failed'
  if (status !== 'canceled') return null
  return ENDED_BY[cancellation_details?.reason ?? ''] ?? 'cancelled'
}
