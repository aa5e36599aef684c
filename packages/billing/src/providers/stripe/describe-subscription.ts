import type Stripe from 'stripe'
import type { RequestedItem } from '../item.ts'
import type {
  CollectionPause,
  EndReason,
  PausedBills,
  PlannedSwap,
  ProviderSubscription,
} from '../subscription.ts'
import { getReferencedId, listAll, toDate } from './client.ts'
import { hasPendingUpdateLapsed } from './held-change.ts'

export function toProviderSubscription(subscription: Stripe.Subscription): ProviderSubscription {
  const item = findMainItem(subscription)
  return {
    id: subscription.id,
    customerId: getReferencedId(subscription.customer),
    price: item?.price.id ?? '',
    status: subscription.status,
    isOver: isOver(subscription),
    quantity: item?.quantity ?? 1,
    trialEndsAt: subscription.trial_end === null ? null : toDate(subscription.trial_end),
    endsAt: findAccessEnd(subscription),
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
      product: getReferencedId(each.price.product),
      quantity: isMeteredPrice(each.price) ? null : (each.quantity ?? 1),
      isMetered: isMeteredPrice(each.price),
      isMain: each === item,
    })),
    pause: isOver(subscription) ? null : pauseOf(subscription),
    planned: findPlannedSwap(subscription),
    isScheduled: !isOver(subscription) && hasActiveSchedule(subscription),
    isHeld: subscription.pending_update !== null,
    hasLapsed: hasPendingUpdateLapsed(subscription),
    raw: subscription,
  }
}

function isOver({ status }: Stripe.Subscription): boolean {
  return status === 'canceled' || status === 'incomplete_expired'
}

function pauseOf({ pause_collection: pause }: Stripe.Subscription): CollectionPause | null {
  if (!pause) return null
  const { behavior, resumes_at: until } = pause
  return { until: until === null ? null : toDate(until), bills: behavior as PausedBills }
}

/**
 * Returns the main item: the one whose price is in `metadata.main`, which every change of ours
 * sets. Falls back to the first item if the metadata is missing or was changed in the dashboard.
 */
export function findMainItem({
  items,
  metadata,
}: Stripe.Subscription): Stripe.SubscriptionItem | undefined {
  return items.data.find(({ price }) => price.id === metadata.main) ?? items.data[0]
}

export function isMeteredPrice({ recurring }: Pick<Stripe.Price, 'recurring'>): boolean {
  return recurring?.usage_type === 'metered'
}

/** When access ends. Not `canceled_at`, which is when the cancellation was requested. */
function findAccessEnd(subscription: Stripe.Subscription): Date | null {
  const { ended_at, cancel_at, cancel_at_period_end } = subscription
  if (ended_at !== null) return toDate(ended_at)
  if (cancel_at !== null) return toDate(cancel_at)
  const ends = listPeriodEnds(subscription)
  return cancel_at_period_end && ends.length > 0 ? toDate(Math.min(...ends)) : null
}

function periodEndOf(subscription: Stripe.Subscription): Date | null {
  const ends = listPeriodEnds(subscription)
  return ends.length > 0 ? toDate(Math.max(...ends)) : null
}

function listPeriodEnds({ items }: Stripe.Subscription): number[] {
  return items.data.map((item) => item.current_period_end)
}

/**
 * Stripe's cancellation reasons that were not requested. All others, including future ones, mean
 * that the cancellation was requested.
 */
const ENDED_BY: Readonly<Record<string, EndReason>> = {
  payment_failed: 'payment_failed',
  payment_disputed: 'payment_disputed',
}

function endReasonOf({ status, cancellation_details }: Stripe.Subscription): EndReason | null {
  if (status === 'incomplete_expired') return 'payment_failed'
  if (status !== 'canceled') return null
  return ENDED_BY[cancellation_details?.reason ?? ''] ?? 'cancelled'
}

const LIVE: readonly string[] = ['active', 'not_started']

/** Returns the schedule that controls a subscription, if it was expanded and is live. */
export function getExpandedSchedule({
  schedule,
}: Stripe.Subscription): Stripe.SubscriptionSchedule | null {
  if (!schedule || typeof schedule === 'string') return null
  return LIVE.includes(schedule.status) ? schedule : null
}

/**
 * Whether a schedule controls the subscription; Stripe refuses to cancel it then. A schedule stays
 * in control for a while after its change took effect.
 */
export function hasActiveSchedule(subscription: Stripe.Subscription): boolean {
  return typeof subscription.schedule === 'string' || getExpandedSchedule(subscription) !== null
}

/**
 * Returns the planned swap: the next phase of the subscription's schedule, if the prices of that
 * phase differ.
 */
export function findPlannedSwap(subscription: Stripe.Subscription): PlannedSwap | null {
  const schedule = getExpandedSchedule(subscription)
  const until = schedule?.current_phase?.end_date
  const next = schedule?.phases.find(({ start_date }) => start_date === until)
  if (!schedule || !next) return null
  const items = listPhaseItems(next, subscription)
  const isChange =
    items.length !== subscription.items.data.length ||
    items.some((item) => !subscription.items.data.some((each) => isSame(each, item)))
  if (!isChange) return null
  const operation = schedule.metadata?.operation ?? null
  return { items, at: toDate(next.start_date), operation }
}

function listPhaseItems(
  phase: Stripe.SubscriptionSchedule.Phase,
  of: Stripe.Subscription,
): RequestedItem[] {
  const items = phase.items.map(({ price, quantity }) => ({
    price: getReferencedId(price) ?? '',
    quantity: quantity ?? null,
  }))
  const named = phase.metadata?.main ?? of.metadata.main
  const main = items.find(({ price }) => price === named) ?? items[0]
  return main ? [main, ...items.filter((item) => item !== main)] : []
}

function isSame({ price, quantity }: Stripe.SubscriptionItem, item: RequestedItem): boolean {
  return price.id === item.price && (quantity ?? null) === item.quantity
}

/**
 * Reads a subscription with its schedule and all its items. Stripe's own object contains only the
 * first items.
 */
export async function retrieveSubscription(
  stripe: Stripe,
  id: string,
): Promise<Stripe.Subscription> {
  return withAllItems(stripe, await stripe.subscriptions.retrieve(id, { expand: ['schedule'] }))
}

export async function withAllItems(
  stripe: Stripe,
  found: Stripe.Subscription,
): Promise<Stripe.Subscription> {
  if (!found.items.has_more) return found
  const data = await listAll(stripe.subscriptionItems.list({ subscription: found.id, limit: 100 }))
  return { ...found, items: { ...found.items, data, has_more: false } }
}
