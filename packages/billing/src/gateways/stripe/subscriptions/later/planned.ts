import type Stripe from 'stripe'
import type { WantedItem } from '../../../contract/item.ts'
import type { PlannedSwap } from '../../../contract/parts/subscriptions/schedules.ts'
import { idOf, toDate } from '../../sdk/client.ts'

const LIVE: readonly string[] = ['active', 'not_started']

/** The schedule that has hold of a subscription, read with it. */
export function scheduleOf({ schedule }: Stripe.Subscription): Stripe.SubscriptionSchedule | null {
  if (!schedule || typeof schedule === 'string') return null
  return LIVE.includes(schedule.status) ? schedule : null
}

/** Stripe refuses to cancel it then. It goes on for a while after the change. */
export function isScheduled(subscription: Stripe.Subscription): boolean {
  return typeof subscription.schedule === 'string' || scheduleOf(subscription) !== null
}

/** The phase after the present one, where it brings other prices. */
export function plannedOf(subscription: Stripe.Subscription): PlannedSwap | null {
  const schedule = scheduleOf(subscription)
  const until = schedule?.current_phase?.end_date
  const next = schedule?.phases.find(({ start_date }) => start_date === until)
  if (!schedule || !next) return null
  const items = itemsOf(next, subscription)
  const isChange =
    items.length !== subscription.items.data.length ||
    items.some((item) => !subscription.items.data.some((each) => isSame(each, item)))
  if (!isChange) return null
  const operation = schedule.metadata?.operation ?? null
  return { items, at: toDate(next.start_date), operation }
}

function itemsOf(phase: Stripe.SubscriptionSchedule.Phase, of: Stripe.Subscription): WantedItem[] {
  const items = phase.items.map(({ price, quantity }) => ({
    price: idOf(price) ?? '',
    quantity: quantity ?? null,
  }))
  const named = phase.metadata?.main ?? of.metadata.main
  const main = items.find(({ price }) => price === named) ?? items[0]
  return main ? [main, ...items.filter((item) => item !== main)] : []
}

function isSame({ price, quantity }: Stripe.SubscriptionItem, item: WantedItem): boolean {
  return price.id === item.price && (quantity ?? null) === item.quantity
}
