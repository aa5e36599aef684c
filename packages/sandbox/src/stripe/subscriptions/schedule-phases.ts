import type { ScheduleRow, SubscriptionRow } from '../state/rows.ts'
import {
  cancelSchedule,
  cancelSubscription,
  isOver,
  planNext,
} from '../state/subscription-status.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { createPlannedSubscription } from './subscription-create.ts'
import { newItem } from './subscription-items.ts'
import { itemsOf, setQuantity } from './subscription-swap.ts'
import { updateSubscription } from './subscription-update.ts'
import { billUsage, countFromNow, isMeteredItem } from './usage.ts'

export type Phase = ScheduleRow['phases'][number]

/** Moves a schedule to what its dates say: starts it, changes phase, or ends it. */
export function advanceSchedule(work: UnitOfWork, schedule: ScheduleRow): void {
  work.edit('subscription_schedule', schedule)
  const phase = schedule.phases.find(
    (each) => each.start_date <= work.now && work.now < each.end_date,
  )
  if (!phase) finishSchedule(work, schedule)
  else if (schedule.status === 'not_started') startSchedule(work, schedule, phase)
  else if (schedule.current_phase?.start_date !== phase.start_date)
    enterPhase(work, schedule, phase)
  planSchedule(schedule)
}

/** When the schedule next has something to do. */
export function planSchedule(schedule: ScheduleRow): void {
  if (schedule.status === 'not_started') schedule.$.nextAt = schedule.phases[0]?.start_date ?? null
  else
    schedule.$.nextAt =
      schedule.status === 'active' ? (schedule.current_phase?.end_date ?? null) : null
}

function startSchedule(work: UnitOfWork, schedule: ScheduleRow, phase: Phase): void {
  if (work.find('customer', schedule.customer)?.$.deleted !== false) {
    cancelSchedule(work, schedule)
    return
  }
  const method = work.find('payment_method', phase.default_payment_method ?? '')
  const subscription = createPlannedSubscription(work, {
    customer: schedule.customer,
    billing_mode: { type: schedule.billing_mode.type },
    currency: phase.currency,
    items: phase.items.map(toItem),
    ...(phase.trial_end === null ? {} : { trial_end: phase.trial_end }),
    // A card that was taken off the customer meanwhile pays nothing any more.
    ...(method?.customer === schedule.customer ? { default_payment_method: method.id } : {}),
    metadata: phase.metadata ?? {},
  })
  work.edit('subscription', subscription).schedule = schedule.id
  schedule.subscription = subscription.id
  schedule.status = 'active'
  schedule.current_phase = { start_date: phase.start_date, end_date: phase.end_date }
}

/** The swap at the turn of a phase, with that phase's proration. */
function enterPhase(work: UnitOfWork, schedule: ScheduleRow, phase: Phase): void {
  schedule.current_phase = { start_date: phase.start_date, end_date: phase.end_date }
  const subscription = work.find('subscription', schedule.subscription ?? '')
  if (!subscription || isOver(subscription)) return
  applyPhase(work, subscription, phase)
}

/** Makes the subscription's items those of the phase. */
export function applyPhase(work: UnitOfWork, subscription: SubscriptionRow, phase: Phase): void {
  const current = itemsOf(work, subscription)
  const wanted = phase.items.map(toItem)
  const items = wanted.map((item, at) => {
    const same = current.find((each) => each.price === item.price) ?? current[at]
    return same ? { ...item, id: same.id } : item
  })
  const kept = new Set(items.flatMap((item) => ('id' in item ? [item.id] : [])))
  const removed = current
    .filter((item) => !kept.has(item.id))
    .map((item) => ({ id: item.id, deleted: true }))
  // At a period's end there is nothing to prorate: the period that ended was paid for in full.
  const ending = current.every((item) => item.current_period_end <= work.now)
  const held = subscription.schedule
  work.edit('subscription', subscription).schedule = null
  if (ending) swapAtBoundary(work, subscription, items)
  else {
    updateSubscription(work, subscription, {
      items: [...items, ...removed],
      proration_behavior: phase.proration_behavior,
      ...(phase.trial_end === null ? {} : { trial_end: phase.trial_end }),
    })
  }
  subscription.schedule = held
  if (phase.metadata && Object.keys(phase.metadata).length > 0)
    Object.assign(subscription.metadata, phase.metadata)
  planNext(work, subscription)
}

/** The renewal that is due now will bill the new prices. */
function swapAtBoundary(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  items: ReadonlyArray<{ id?: string; price: string; quantity?: number }>,
): void {
  for (const item of itemsOf(work, subscription)) {
    const by = items.find((each) => each.id === item.id)
    const goes = by?.price !== item.price
    // The renewal bills the usage of what stays.
    if (goes && subscription.billing_mode.type === 'flexible' && isMeteredItem(work, item)) {
      billUsage(work, subscription, item)
    }
    if (!by) {
      work.remove('subscription_item', item)
      continue
    }
    work.edit('subscription_item', item)
    const price = work.require('price', by.price)
    item.price = price.id
    setQuantity(item, price, by.quantity ?? 1)
    if (goes) countFromNow(work, item)
  }
  const customer = work.require('customer', subscription.customer)
  const owner = { subscription: subscription.id, customer, currency: subscription.currency }
  const now = { start: work.now, end: work.now }
  for (const item of items) {
    if (item.id === undefined)
      newItem(work, owner, work.require('price', item.price), item, now, 'items')
  }
}

function finishSchedule(work: UnitOfWork, schedule: ScheduleRow): void {
  const subscription = work.find('subscription', schedule.subscription ?? '')
  schedule.status = 'completed'
  schedule.completed_at = work.now
  schedule.current_phase = null
  if (schedule.end_behavior === 'cancel') {
    work.emit('subscription_schedule.completed', 'subscription_schedule', schedule)
    if (subscription && !isOver(subscription))
      cancelSubscription(work, subscription, 'cancellation_requested')
    return
  }
  release(work, schedule, subscription)
}

/** The subscription goes on by itself. */
export function release(
  work: UnitOfWork,
  schedule: ScheduleRow,
  subscription: SubscriptionRow | undefined,
): void {
  schedule.status = 'released'
  schedule.released_at = work.now
  schedule.completed_at = null
  schedule.released_subscription = subscription?.id ?? null
  schedule.subscription = null
  schedule.current_phase = null
  schedule.$.nextAt = null
  if (subscription) work.edit('subscription', subscription).schedule = null
  work.emit('subscription_schedule.released', 'subscription_schedule', schedule)
}

function toItem(item: Phase['items'][number]): { price: string; quantity?: number } {
  return { price: item.price, ...(item.quantity === undefined ? {} : { quantity: item.quantity }) }
}
