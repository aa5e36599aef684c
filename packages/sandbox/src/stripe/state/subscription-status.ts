import { getDunningOptions } from './context.ts'
import { endDiscount } from './discounts.ts'
import {
  applyPendingUpdate,
  discardPendingUpdate,
  getPendingUpdateInvoiceId,
} from './pending-update.ts'
import type { InvoiceRow, ScheduleRow, SubscriptionRow } from './rows.ts'
import type { UnitOfWork } from './unit-of-work.ts'

const DAY = 86_400
export const NOT_CANCELED = { comment: null, feedback: null, feedback_option: null, reason: null }

type CancelReason = 'cancellation_requested' | 'payment_failed' | 'payment_disputed'

/** Whether a subscription has ended for good. */
export function hasEnded(subscription: SubscriptionRow): boolean {
  return subscription.status === 'canceled' || subscription.status === 'incomplete_expired'
}

/**
 * Stores when the subscription's next scheduled change is due. Call it after every change of the
 * subscription.
 */
export function storeNextDueTime(work: UnitOfWork, subscription: SubscriptionRow): void {
  work.edit('subscription', subscription)
  subscription.$.nextAt = findNextSubscriptionDue(work, subscription)
}

function findNextSubscriptionDue(work: UnitOfWork, subscription: SubscriptionRow): number | null {
  if (hasEnded(subscription)) return null
  const state = subscription.$
  if (subscription.status === 'incomplete') return state.incompleteUntil
  const times: number[] = []
  if (subscription.cancel_at !== null) times.push(subscription.cancel_at)
  if (subscription.pending_update) times.push(subscription.pending_update.expires_at)
  if (subscription.pause_collection?.resumes_at)
    times.push(subscription.pause_collection.resumes_at)
  const upcoming = findUpcomingNoticeTime(work, subscription)
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

/**
 * Returns when `invoice.upcoming` is due for the current period, in Unix seconds. `null` if the
 * event was sent already or will not be sent.
 */
export function findUpcomingNoticeTime(
  work: UnitOfWork,
  subscription: SubscriptionRow,
): number | null {
  const days = work.context.upcomingInvoiceDays
  if (days === null || subscription.cancel_at !== null) return null
  if (subscription.status !== 'active' && subscription.status !== 'trialing') return null
  const items = work.findBy('subscription_item', 'subscription', subscription.id)
  const end = Math.min(...items.map((item) => item.current_period_end))
  const pause = subscription.pause_collection
  // While collection is paused, no one pays the next invoice, so it is not announced.
  if (pause && !(pause.resumes_at && pause.resumes_at <= end)) return null
  if (subscription.$.upcomingFor === end || end <= work.now) return null
  return Math.max(work.now, end - days * DAY)
}

export function pauseSubscription(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  type: 'pause_requested' | 'trial_end_without_payment_method',
): void {
  const transitioned_at = work.now
  subscription.status = 'paused'
  subscription.status_details = {
    paused: { subscription: { type }, transitioned_at, type: 'subscription' },
  }
  work.emit('customer.subscription.paused', 'subscription', subscription)
}

/** Cancels a subscription immediately. Its open invoices are no longer collected automatically. */
export function cancelSubscription(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  reason: CancelReason,
): void {
  work.edit('subscription', subscription)
  subscription.status = 'canceled'
  subscription.canceled_at ??= work.now
  subscription.ended_at = work.now
  discardPendingUpdate(work, subscription)
  const details = subscription.cancellation_details
  subscription.cancellation_details = { ...NOT_CANCELED, ...details, reason }
  for (const id of subscription.discounts) endDiscount(work, id)
  subscription.discounts = []
  stopCollecting(work, subscription)
  storeNextDueTime(work, subscription)
  endSchedule(work, subscription, reason)
  work.emit('customer.subscription.deleted', 'subscription', subscription)
}

function stopCollecting(work: UnitOfWork, subscription: SubscriptionRow): void {
  for (const invoice of work.findBy('invoice', 'subscription', subscription.id)) {
    if (invoice.status !== 'open' && invoice.status !== 'draft') continue
    stopAutoAdvance(work.edit('invoice', invoice))
    invoice.automatically_finalizes_at = null
  }
}

/** Stops the automatic collection of an invoice. */
export function stopAutoAdvance(invoice: InvoiceRow): void {
  invoice.auto_advance = false
  invoice.next_payment_attempt = null
  invoice.$.nextAt = null
}

function endSchedule(work: UnitOfWork, subscription: SubscriptionRow, reason: CancelReason): void {
  const schedule = work.find('subscription_schedule', subscription.schedule ?? '')
  if (schedule && (schedule.status === 'active' || schedule.status === 'not_started'))
    cancelSchedule(work, schedule, reason === 'payment_failed' ? 'aborted' : 'canceled')
}

/** Cancels a subscription schedule. The subscription itself is not changed. */
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
  updateDelinquency(work, invoice)
  const subscription = work.find('subscription', invoice.$.subscription ?? '')
  if (!subscription || hasEnded(subscription)) return
  if (applyPendingUpdate(work, subscription, invoice.id)) storeNextDueTime(work, subscription)
  const latest = subscription.latest_invoice === invoice.id
  const { status } = subscription
  if (status === 'incomplete' || ((status === 'past_due' || status === 'unpaid') && latest)) {
    activate(work, subscription, invoice)
  } else if (status === 'paused' && latest) {
    work.edit('subscription', subscription).status = 'active'
    storeNextDueTime(work, subscription)
    work.emit('customer.subscription.resumed', 'subscription', subscription)
  }
}

/**
 * Activates the subscription while its first invoice is paid by a bank debit that is still
 * processing.
 */
export function onInvoiceProcessing(work: UnitOfWork, invoice: InvoiceRow): void {
  const subscription = work.find('subscription', invoice.$.subscription ?? '')
  if (subscription?.status === 'incomplete') activate(work, subscription, invoice)
}

/**
 * Activates the subscription and, if requested, saves the payment method of its invoice as default.
 */
function activate(work: UnitOfWork, subscription: SubscriptionRow, invoice: InvoiceRow): void {
  work.edit('subscription', subscription)
  subscription.status = 'active'
  subscription.$.incompleteUntil = null
  const wanted = subscription.payment_settings?.save_default_payment_method === 'on_subscription'
  const intent = work.find('payment_intent', invoice.$.paymentIntent ?? '')
  if (wanted && intent?.payment_method) subscription.default_payment_method = intent.payment_method
  storeNextDueTime(work, subscription)
}

/** Updates the subscription after a failed or unfinished payment of one of its invoices. */
export function onInvoiceUnpaid(work: UnitOfWork, invoice: InvoiceRow): void {
  const customer = work.find('customer', invoice.customer ?? '')
  const subscription = work.find('subscription', invoice.$.subscription ?? '')
  if (!subscription || hasEnded(subscription)) return
  if (subscription.status === 'incomplete' || subscription.status === 'paused') return
  if (getPendingUpdateInvoiceId(subscription) === invoice.id) return
  if (customer && invoice.billing_reason !== 'subscription_create') {
    work.edit('customer', customer).delinquent = true
  }
  const isSettled = hasPaidNewer(work, subscription, invoice)
  work.edit('subscription', subscription)
  if (!isSettled && (subscription.status === 'active' || subscription.status === 'trialing')) {
    subscription.status = 'past_due'
  }
  const { retryAfterDays, afterLastRetry } = getDunningOptions(work.context)
  if (invoice.auto_advance !== true || invoice.attempt_count <= retryAfterDays.length) return
  if (afterLastRetry === 'cancel') cancelSubscription(work, subscription, 'payment_failed')
  else if (!isSettled) subscription.status = afterLastRetry
}

/**
 * Whether the subscription's newest invoice is paid and is not the given invoice. The newest
 * invoice determines the status; older ones are merely owed.
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
 * Updates the subscription after one of its invoices was voided. Voiding the first invoice of an
 * incomplete subscription expires the subscription. Voiding the last unpaid invoice of a past-due
 * subscription activates the subscription again.
 */
export function onInvoiceVoided(work: UnitOfWork, invoice: InvoiceRow): void {
  updateDelinquency(work, invoice)
  const subscription = work.find('subscription', invoice.$.subscription ?? '')
  if (!subscription || hasEnded(subscription)) return
  if (getPendingUpdateInvoiceId(subscription) === invoice.id) {
    discardPendingUpdate(work, subscription)
    storeNextDueTime(work, subscription)
  }
  const { status } = subscription
  if (status === 'incomplete' && subscription.latest_invoice === invoice.id) {
    expireIncomplete(work, subscription)
  } else if ((status === 'past_due' || status === 'unpaid') && !isOwing(work, subscription)) {
    work.edit('subscription', subscription).status = 'active'
    storeNextDueTime(work, subscription)
  }
}

/** Expires an incomplete subscription that was never paid. */
export function expireIncomplete(work: UnitOfWork, subscription: SubscriptionRow): void {
  work.edit('subscription', subscription)
  subscription.status = 'incomplete_expired'
  subscription.ended_at = work.now
  subscription.$.incompleteUntil = null
  storeNextDueTime(work, subscription)
}

function isOwing(work: UnitOfWork, { id }: SubscriptionRow): boolean {
  return work
    .findBy('invoice', 'subscription', id)
    .some(({ status, attempted }) => status === 'open' && attempted)
}

function updateDelinquency(work: UnitOfWork, invoice: InvoiceRow): void {
  const customer = work.find('customer', invoice.customer ?? '')
  if (!customer?.delinquent) return
  const owing = work
    .findBy('invoice', 'customer', customer.id)
    .some((other) => other.id !== invoice.id && other.status === 'open' && other.attempted)
  if (!owing) work.edit('customer', customer).delinquent = false
}
