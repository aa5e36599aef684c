import type Stripe from 'stripe'
import type { Pause, PausedBills } from '../../contract/parts/subscriptions/pauses.ts'
import type { EndReason, ProviderSubscription } from '../../contract/subscription.ts'
import { idOf, toDate } from '../sdk/client.ts'
import { hasLapsed } from './held/remembered.ts'
import { isScheduled, plannedOf } from './later/planned.ts'

export function describe(subscription: Stripe.Subscription): ProviderSubscription {
  const item = mainItem(subscription)
  return {
    id: subscription.id,
    customerId: idOf(subscription.customer),
    plan: item?.price.id ?? '',
    status: subscription.status,
    isOver: isOver(subscription),
    quantity: item?.quantity ?? 1,
    trialEndsAt: subscription.trial_end === null ? null : toDate(subscription.trial_end),
    endsAt: endOf(subscription),
    periodStartsAt: item ? toDate(item.current_period_start) : null,
    periodEndsAt: periodEndOf(subscription),
    paidUntil: periodEndOf(subscription),
    createdAt: toDate(subscription.created),
    name: subscription.metadata.name ?? null,
    nameDigest: null,
    operation: subscription.metadata.operation ?? null,
    taxedPrice: null,
    lastChargeAt: null,
    endReason: endReasonOf(subscription),
    items: subscription.items.data.map((each) => ({
      id: each.id,
      price: each.price.id,
      product: idOf(each.price.product),
      quantity: isMetered(each.price) ? null : (each.quantity ?? 1),
      isMetered: isMetered(each.price),
      isMain: each === item,
    })),
    pause: isOver(subscription) ? null : pauseOf(subscription),
    planned: plannedOf(subscription),
    isScheduled: !isOver(subscription) && isScheduled(subscription),
    isHeld: subscription.pending_update !== null,
    hasLapsed: hasLapsed(subscription),
    raw: subscription,
  }
}

function isOver({ status }: Stripe.Subscription): boolean {
  return status === 'canceled' || status === 'incomplete_expired'
}

function pauseOf({ pause_collection: pause }: Stripe.Subscription): Pause | null {
  if (!pause) return null
  const { behavior, resumes_at: until } = pause
  return { until: until === null ? null : toDate(until), bills: behavior as PausedBills }
}

/**
 * The price that the row names: of several the one in `metadata.main`, which is said with everything that changes
 * it. The first one where nothing is said, or somebody has changed it in the control panel.
 */
export function mainItem({
  items,
  metadata,
}: Stripe.Subscription): Stripe.SubscriptionItem | undefined {
  return items.data.find(({ price }) => price.id === metadata.main) ?? items.data[0]
}

export function isMetered({ recurring }: Pick<Stripe.Price, 'recurring'>): boolean {
  return recurring?.usage_type === 'metered'
}

/** `canceled_at` is when it was asked for, not when access ends. */
function endOf(subscription: Stripe.Subscription): Date | null {
  const { ended_at, cancel_at, cancel_at_period_end } = subscription
  if (ended_at !== null) return toDate(ended_at)
  if (cancel_at !== null) return toDate(cancel_at)
  const ends = endsOfPeriods(subscription)
  return cancel_at_period_end && ends.length > 0 ? toDate(Math.min(...ends)) : null
}

function periodEndOf(subscription: Stripe.Subscription): Date | null {
  const ends = endsOfPeriods(subscription)
  return ends.length > 0 ? toDate(Math.max(...ends)) : null
}

function endsOfPeriods({ items }: Stripe.Subscription): number[] {
  return items.data.map((item) => item.current_period_end)
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
