import type { ScheduledWork } from '../../core/clock/clock.ts'
import { combineDueJobs, type DueJob } from '../../core/clock/due-jobs.ts'
import {
  applyPaymentOutcome,
  collectInvoice,
  finalizeInvoice,
  findIntentInvoice,
  keepInvoiceAsDraft,
  voidInvoice,
} from '../invoices/invoice-payment.ts'
import { expireAuthorization } from '../payments/authorizations.ts'
import { findDefaultPaymentMethod } from '../payments/customer.ts'
import { settleDebit } from '../payments/debits/bank-debit.ts'
import { expireDispute } from '../payments/disputes.ts'
import { finishRefund } from '../payments/refunds.ts'
import type { StripeContext } from '../state/context.ts'
import { expirePendingUpdate } from '../state/pending-update.ts'
import type { InvoiceRow, SubscriptionItemRow, SubscriptionRow } from '../state/rows.ts'
import {
  cancelSubscription,
  expireIncomplete,
  onInvoiceUnpaid,
  pauseSubscription,
  storeNextDueTime,
} from '../state/subscription-status.ts'
import { findTestClock } from '../state/test-clocks.ts'
import { runScheduled, type UnitOfWork } from '../state/unit-of-work.ts'
import { findPeriodAt } from '../wire/periods.ts'
import { applyPausedCollection } from './paused-collection.ts'
import { advanceSchedule } from './schedules/phases.ts'
import { draftSubscriptionInvoice, wouldInvoiceBeEmpty } from './subscription-invoice.ts'
import { listSubscriptionItems } from './subscription-swap.ts'
import { draftLastInvoice, emitUpcomingInvoiceEvent } from './upcoming-invoice.ts'
import { listUsagePeriods } from './usage.ts'

/**
 * Returns all scheduled work of Stripe on the sandbox's own clock. Jobs that are due at the same
 * time run in the listed order.
 */
export function scheduleBilling(context: StripeContext): ScheduledWork {
  const { authorizations, checkouts, debits, disputes, refunds } = context.queues
  const jobs: DueJob[] = [
    ...billingJobs(context, null),
    { name: 'checkout.session', queue: checkouts, run: stepOn(context, null, expireCheckout) },
    {
      name: 'bank_debit',
      queue: debits,
      run: (key) =>
        runScheduled(context, findTestClock(context.tables, key), (w) => fireDebit(w, key)),
    },
    {
      name: 'authorization',
      queue: authorizations,
      run: stepOn(context, null, expireAuthorization),
    },
    { name: 'dispute', queue: disputes, run: stepOn(context, null, expireDispute) },
    { name: 'refund', queue: refunds, run: stepOn(context, null, finishRefund) },
  ]
  return combineDueJobs('stripe', jobs, context.failures)
}

/**
 * Returns the scheduled work of Stripe on a test clock: billing and bank debits. Disputes, refunds
 * and Checkout sessions follow the sandbox's own clock.
 */
export function scheduleBillingOnTestClock(
  context: StripeContext,
  testClock: string,
): ScheduledWork {
  const jobs: DueJob[] = [
    ...billingJobs(context, testClock),
    {
      name: 'bank_debit',
      queue: context.queues.debitsOnClocks.queueOfClock(testClock),
      run: stepOn(context, testClock, fireDebit),
    },
  ]
  return combineDueJobs('stripe', jobs, context.failures)
}

function stepOn(
  context: StripeContext,
  testClock: string | null,
  run: (work: UnitOfWork, key: string) => void,
): DueJob['run'] {
  return (key) => runScheduled(context, testClock, (work) => run(work, key))
}

function billingJobs(context: StripeContext, testClock: string | null): DueJob[] {
  const { schedules, subscriptions, invoices } = context.queues
  const step = (run: (work: UnitOfWork, key: string) => void) => stepOn(context, testClock, run)
  const fire = step((work, key) => fireSubscription(work, work.require('subscription', key)))
  return [
    {
      name: 'subscription_schedule',
      queue: schedules.queueOfClock(testClock),
      run: step((work, key) => advanceSchedule(work, work.require('subscription_schedule', key))),
    },
    {
      name: 'subscription',
      queue: subscriptions.queueOfClock(testClock),
      run: (key) => {
        if (context.upcomingInvoiceDays !== null && emitUpcomingInvoiceEvent(context, key)) return
        fire(key)
      },
    },
    {
      name: 'invoice',
      queue: invoices.queueOfClock(testClock),
      run: step((work, key) => fireInvoice(work, work.require('invoice', key))),
    },
  ]
}

function fireSubscription(work: UnitOfWork, subscription: SubscriptionRow): void {
  work.edit('subscription', subscription)
  fireOne(work, subscription)
  storeNextDueTime(work, subscription)
}

function fireOne(work: UnitOfWork, subscription: SubscriptionRow): void {
  const { now } = work
  if (subscription.status === 'incomplete') {
    endIncomplete(work, subscription)
    return
  }
  if (subscription.pending_update && subscription.pending_update.expires_at <= now) {
    const unpaid = work.find('invoice', expirePendingUpdate(work, subscription) ?? '')
    if (unpaid?.status === 'open') voidInvoice(work, unpaid)
    return
  }
  const pause = subscription.pause_collection
  if (pause?.resumes_at && pause.resumes_at <= now) {
    subscription.pause_collection = null
    return
  }
  if (subscription.cancel_at !== null && subscription.cancel_at <= now) {
    endSubscription(work, subscription)
    return
  }
  const trialEnd = subscription.trial_end
  if (subscription.status === 'trialing' && trialEnd !== null) {
    if (trialEnd <= now) {
      endTrial(work, subscription)
      return
    }
    if (!subscription.$.trialNoticeSent) {
      subscription.$.trialNoticeSent = true
      work.emit('customer.subscription.trial_will_end', 'subscription', subscription)
      return
    }
  }
  renew(work, subscription)
}

/** Expires an incomplete subscription after 23 hours without payment. */
function endIncomplete(work: UnitOfWork, subscription: SubscriptionRow): void {
  const invoice = work.find('invoice', subscription.latest_invoice ?? '')
  expireIncomplete(work, subscription)
  if (invoice?.status === 'open') voidInvoice(work, invoice)
}

/**
 * Ends a subscription at the end of its last period. Bills pending items and usage on a final
 * invoice.
 */
function endSubscription(work: UnitOfWork, subscription: SubscriptionRow): void {
  const reason = subscription.cancellation_details?.reason ?? 'cancellation_requested'
  const invoice = draftLastInvoice(work, subscription, work.now)
  cancelSubscription(work, subscription, reason as 'cancellation_requested')
  if (!invoice || applyPausedCollection(work, subscription, invoice)) return
  keepInvoiceAsDraft(work, invoice)
  work.emit('invoice.created', 'invoice', invoice)
}

function endTrial(work: UnitOfWork, subscription: SubscriptionRow): void {
  const customer = work.require('customer', subscription.customer)
  const method = subscription.default_payment_method ?? findDefaultPaymentMethod(customer)
  const missing = subscription.trial_settings?.end_behavior.missing_payment_method
  if (method === null && subscription.collection_method === 'charge_automatically') {
    if (missing === 'cancel') {
      cancelSubscription(work, subscription, 'payment_failed')
      return
    }
    if (missing === 'pause') {
      pauseSubscription(work, subscription, 'trial_end_without_payment_method')
      return
    }
  }
  subscription.status = 'active'
  renew(work, subscription, { afterTrial: true })
}

/**
 * Starts the next period of every item whose period is over, and drafts the invoice with the usage
 * of the old period. Usage during a trial is free. Does nothing if no period is over.
 */
function renew(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  { afterTrial = false }: { afterTrial?: boolean } = {},
): void {
  const due = listSubscriptionItems(work, subscription).filter(
    (item) => item.current_period_end <= work.now,
  )
  if (due.length === 0) return
  const periodStart = Math.min(...due.map((item) => item.current_period_start))
  const usage = afterTrial ? [] : listUsagePeriods(work, due)
  for (const item of due) startNextPeriod(work, subscription, item)
  if (afterTrial && wouldInvoiceBeEmpty(work, subscription, { items: due, pending: 'all' })) return
  const unpaid = subscription.status === 'unpaid'
  const invoice = draftSubscriptionInvoice(work, subscription, {
    reason: 'subscription_cycle',
    items: due,
    pending: 'all',
    autoAdvance: !unpaid,
    periodStart,
    usage,
  })
  if (applyPausedCollection(work, subscription, invoice)) return
  if (invoice.auto_advance) keepInvoiceAsDraft(work, invoice)
  work.emit('invoice.created', 'invoice', invoice)
}

function startNextPeriod(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  item: SubscriptionItemRow,
): void {
  const { recurring } = work.require('price', item.price)
  if (!recurring) throw new TypeError('A subscription item needs a recurring price')
  work.edit('subscription_item', item)
  const start = item.current_period_end
  const { end } = findPeriodAt(subscription.billing_cycle_anchor, recurring, start)
  item.current_period_start = start
  item.current_period_end = end
}

/** Finalizes a draft, or retries the collection of an open invoice. */
function fireInvoice(work: UnitOfWork, invoice: InvoiceRow): void {
  work.edit('invoice', invoice)
  invoice.$.nextAt = null
  if (invoice.status === 'draft') finalizeInvoice(work, invoice, { missingLocation: 'disabled' })
  if (invoice.status !== ('open' as string)) return
  if (invoice.collection_method === 'send_invoice') {
    awaitPayment(work, invoice)
    return
  }
  collectInvoice(work, invoice, { offSession: 'renewal' })
}

/**
 * Handles an invoice with `send_invoice`: it is not charged, and becomes overdue after its due
 * date.
 */
function awaitPayment(work: UnitOfWork, invoice: InvoiceRow): void {
  if (invoice.due_date !== null && invoice.due_date > work.now) {
    invoice.$.nextAt = invoice.due_date
    work.emit('invoice.sent', 'invoice', invoice)
    return
  }
  work.emit('invoice.overdue', 'invoice', invoice)
  onInvoiceUnpaid(work, invoice)
}

/** Applies the bank's decision on a debit to its invoice and checkout session. */
function fireDebit(work: UnitOfWork, id: string): void {
  const intent = work.require('payment_intent', id)
  const outcome = settleDebit(work, intent)
  if (!outcome) return
  const invoice = findIntentInvoice(work, intent)
  if (invoice?.status === 'open') applyPaymentOutcome(work, invoice, outcome, true)
  const session = work.find('checkout.session', intent.$.checkout ?? '')
  if (!session) return
  work.edit('checkout.session', session)
  const isPaid = outcome.status === 'succeeded'
  if (isPaid) session.payment_status = 'paid'
  const type = `checkout.session.async_payment_${isPaid ? 'succeeded' : 'failed'}`
  work.emit(type, 'checkout.session', session)
}

/** Expires a checkout session. */
function expireCheckout(work: UnitOfWork, id: string): void {
  const session = work.edit('checkout.session', work.require('checkout.session', id))
  session.$.expiresNextAt = null
  if (session.status !== 'open') return
  session.status = 'expired'
  session.url = null
  work.emit('checkout.session.expired', 'checkout.session', session)
}
