import { dunningOf } from './context.ts'
import { endDiscount } from './discounts.ts'
import { applyPendingUpdate, forgetUpdate, heldInvoice } from './pending-update.ts'
import type { InvoiceRow, ScheduleRow, SubscriptionRow } from './rows.ts'
import type { UnitOfWork } from './unit-of-work.ts'

const DAY = 86_400
type CancelReason = 'cancellation_requested' | 'payment_failed' | 'payment_disputed'

/** Nothing happens to it any more. */
export function isOver(subscription: SubscriptionRow): boolean {
  return subscription.status === 'canceled' || subscription.status === 'incomplete_expired'
}

/** Writes down when the next thing happens to a subscription. Call after every change. */
export function planNext(work: UnitOfWork, subscription: SubscriptionRow): void {
  work.edit('subscription', subscription)
  subscription.$.nextAt = nextOf(work, subscription)
}

function nextOf(work: UnitOfWork, subscription: SubscriptionRow): number | null {
  if (isOver(subscription)) return null
  const state = subscription.$
  if (subscription.status === 'incomplete') return state.incompleteUntil
  const times: number[] = []
  if (subscription.cancel_at !== null) times.push(subscription.cancel_at)
  if (subscription.pending_update) times.push(subscription.pending_update.expires_at)
  if (subscription.pause_collection?.resumes_at)
    times.push(subscription.pause_collection.resumes_at)
  const upcoming = upcomingAt(work, subscription)
  if (upcoming !== null) times.push(upcoming)
  if (subscription.status !== 'paused') {
    if (subscription.status === 'trialing' && subscription.trial_end && !state.trialNoticeSent) {
      times.push(Math.max(work.now, subscription.trial_end - 3 * DAY))
    }
    for (const item of work.findBy('subscription_item', 'subscription', subscription.id)) {
      times.push(item.current_period_end)
    }
  }
  return times.length > 0 ? Math.min(...times) : null
}

/** When `invoice.upcoming` is due for the current period; null when it was sent or will not be. */
export function upcomingAt(work: UnitOfWork, subscription: SubscriptionRow): number | null {
  const days = work.context.upcomingInvoiceDays
  if (days === null || subscription.cancel_at !== null) return null
  if (subscription.status !== 'active' && subscription.status !== 'trialing') return null
  const items = work.findBy('subscription_item', 'subscription', subscription.id)
  const end = Math.min(...items.map((item) => item.current_period_end))
  const pause = subscription.pause_collection
  // Nobody is told of an invoice that nobody pays.
  if (pause && !(pause.resumes_at && pause.resumes_at <= end)) return null
  if (subscription.$.upcomingFor === end || end <= work.now) return null
  return Math.max(work.now, end - days * DAY)
}

/** Ends it now. Open invoices are no longer collected by themselves. */
export function cancelSubscription(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  reason: CancelReason,
): void {
  work.edit('subscription', subscription)
  subscription.status = 'canceled'
  subscription.canceled_at ??= work.now
  subscription.ended_at = work.now
  forgetUpdate(work, subscription)
  subscription.cancellation_details = {
    comment: null,
    feedback: null,
    feedback_option: null,
    ...subscription.cancellation_details,
    reason,
  }
  for (const id of subscription.discounts) endDiscount(work, id)
  subscription.discounts = []
  stopCollecting(work, subscription)
  planNext(work, subscription)
  endSchedule(work, subscription, reason)
  work.emit('customer.subscription.deleted', 'subscription', subscription)
}

function stopCollecting(work: UnitOfWork, subscription: SubscriptionRow): void {
  for (const invoice of work.findBy('invoice', 'subscription', subscription.id)) {
    if (invoice.status !== 'open' && invoice.status !== 'draft') continue
    work.edit('invoice', invoice)
    invoice.auto_advance = false
    invoice.next_payment_attempt = null
    invoice.automatically_finalizes_at = null
    invoice.$.nextAt = null
  }
}

function endSchedule(work: UnitOfWork, subscription: SubscriptionRow, reason: CancelReason): void {
  const schedule = work.find('subscription_schedule', subscription.schedule ?? '')
  if (schedule && (schedule.status === 'active' || schedule.status === 'not_started'))
    cancelSchedule(work, schedule, reason === 'payment_failed' ? 'aborted' : 'canceled')
}

/** Nothing of it happens any more; its subscription, if it has one, is the caller's business. */
export function cancelSchedule(
  work: UnitOfWork,
  schedule: ScheduleRow,
  event: 'aborted' | 'canceled' = 'canceled',
): void {
  work.edit('subscription_schedule', schedule)
  schedule.status = 'canceled'
  schedule.canceled_at = work.now
  schedule.current_phase = null
  schedule.$.nextAt = null
  work.emit(`subscription_schedule.${event}`, 'subscription_schedule', schedule)
}

export function onInvoicePaid(work: UnitOfWork, invoice: InvoiceRow): void {
  settleDelinquency(work, invoice)
  const subscription = work.find('subscription', invoice.$.subscription ?? '')
  if (!subscription || isOver(subscription)) return
  if (applyPendingUpdate(work, subscription, invoice.id)) planNext(work, subscription)
  const latest = subscription.latest_invoice === invoice.id
  const { status } = subscription
  if (status === 'incomplete' || ((status === 'past_due' || status === 'unpaid') && latest)) {
    work.edit('subscription', subscription)
    subscription.status = 'active'
    subscription.$.incompleteUntil = null
    saveDefaultMethod(work, subscription, invoice)
    planNext(work, subscription)
  } else if (status === 'paused' && latest) {
    work.edit('subscription', subscription).status = 'active'
    planNext(work, subscription)
    work.emit('customer.subscription.resumed', 'subscription', subscription)
  }
}

/** Its first invoice is being debited: it runs until the bank says otherwise. */
export function onInvoiceProcessing(work: UnitOfWork, invoice: InvoiceRow): void {
  const subscription = work.find('subscription', invoice.$.subscription ?? '')
  if (subscription?.status !== 'incomplete') return
  work.edit('subscription', subscription)
  subscription.status = 'active'
  subscription.$.incompleteUntil = null
  saveDefaultMethod(work, subscription, invoice)
  planNext(work, subscription)
}

function saveDefaultMethod(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  invoice: InvoiceRow,
): void {
  const wanted = subscription.payment_settings?.save_default_payment_method === 'on_subscription'
  const intent = work.find('payment_intent', invoice.$.paymentIntent ?? '')
  if (wanted && intent?.payment_method) subscription.default_payment_method = intent.payment_method
}

/** A failed or unfinished payment of one of its invoices. */
export function onInvoiceUnpaid(work: UnitOfWork, invoice: InvoiceRow): void {
  const customer = work.find('customer', invoice.customer ?? '')
  const subscription = work.find('subscription', invoice.$.subscription ?? '')
  if (!subscription || isOver(subscription)) return
  if (subscription.status === 'incomplete' || subscription.status === 'paused') return
  if (heldInvoice(subscription) === invoice.id) return
  if (customer && invoice.billing_reason !== 'subscription_create') {
    work.edit('customer', customer).delinquent = true
  }
  const isSettled = hasPaidNewer(work, subscription, invoice)
  work.edit('subscription', subscription)
  if (!isSettled && (subscription.status === 'active' || subscription.status === 'trialing')) {
    subscription.status = 'past_due'
  }
  const { retryAfterDays, afterLastRetry } = dunningOf(work.context)
  if (invoice.auto_advance !== true || invoice.attempt_count <= retryAfterDays.length) return
  if (afterLastRetry === 'cancel') cancelSubscription(work, subscription, 'payment_failed')
  else if (!isSettled) subscription.status = afterLastRetry
}

/**
 * How a subscription stands is said by its newest invoice; an older one is owed, and that is all.
 * https://docs.stripe.com/billing/subscriptions/overview#subscription-statuses
 */
function hasPaidNewer(
  work: UnitOfWork,
  { latest_invoice }: SubscriptionRow,
  invoice: InvoiceRow,
): boolean {
  return (
    latest_invoice !== invoice.id && work.find('invoice', latest_invoice ?? '')?.status === 'paid'
  )
}

/**
 * Without its first invoice a subscription never began. A later one is no longer owed: the newest that is left says how
 * the subscription stands.
 */
export function onInvoiceVoided(work: UnitOfWork, invoice: InvoiceRow): void {
  settleDelinquency(work, invoice)
  const subscription = work.find('subscription', invoice.$.subscription ?? '')
  if (!subscription || isOver(subscription)) return
  if (heldInvoice(subscription) === invoice.id) {
    forgetUpdate(work, subscription)
    planNext(work, subscription)
  }
  const { status } = subscription
  if (status === 'incomplete' && subscription.latest_invoice === invoice.id) {
    expireIncomplete(work, subscription)
  } else if ((status === 'past_due' || status === 'unpaid') && !isOwing(work, subscription)) {
    work.edit('subscription', subscription).status = 'active'
    planNext(work, subscription)
  }
}

/** It was never paid for, and never will be. */
export function expireIncomplete(work: UnitOfWork, subscription: SubscriptionRow): void {
  work.edit('subscription', subscription)
  subscription.status = 'incomplete_expired'
  subscription.ended_at = work.now
  subscription.$.incompleteUntil = null
  planNext(work, subscription)
}

function isOwing(work: UnitOfWork, { id }: SubscriptionRow): boolean {
  return work
    .findBy('invoice', 'subscription', id)
    .some(({ status, attempted }) => status === 'open' && attempted)
}

function settleDelinquency(work: UnitOfWork, invoice: InvoiceRow): void {
  const customer = work.find('customer', invoice.customer ?? '')
  if (!customer?.delinquent) return
  const owing = work
    .findBy('invoice', 'customer', customer.id)
    .some((other) => other.id !== invoice.id && other.status === 'open' && other.attempted)
  if (!owing) work.edit('customer', customer).delinquent = false
}
