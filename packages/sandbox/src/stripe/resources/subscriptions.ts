import type Stripe from 'stripe'
import { filterRows, inRange, listPage, type Range } from '../api/lists.ts'
import { idOf, type Operations, op } from '../api/operation.ts'
import { searchPage } from '../api/search.ts'
import { collectInvoice, finalizeInvoice } from '../invoices/invoice-payment.ts'
import { endDiscount } from '../state/discounts.ts'
import { render } from '../state/render.ts'
import type { SubscriptionRow } from '../state/rows.ts'
import { cancelSubscription, isOver, planNext } from '../state/subscription-status.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { announcePaused } from '../subscriptions/paused-collection.ts'
import { creditUnused } from '../subscriptions/proration.ts'
import { createSubscription } from '../subscriptions/subscription-create.ts'
import { noMethod } from '../subscriptions/subscription-first-payment.ts'
import { draftSubscriptionInvoice } from '../subscriptions/subscription-invoice.ts'
import { changeItems, itemsOf } from '../subscriptions/subscription-swap.ts'
import { updateSubscription } from '../subscriptions/subscription-update.ts'
import { usagePeriods } from '../subscriptions/usage.ts'
import { invalidRequest, noSuch } from '../wire/errors.ts'

export const subscriptions: Operations = {
  'Subscriptions.create': op<Stripe.SubscriptionCreateParams>((params, { work }) =>
    render('subscription', createSubscription(work, params), work.tables),
  ),

  'Subscriptions.retrieve': op((_params, call) =>
    render('subscription', call.work.require('subscription', idOf(call)), call.work.tables),
  ),

  'Subscriptions.update': op<Stripe.SubscriptionUpdateParams>((params, call) => {
    const subscription = call.work.require('subscription', idOf(call))
    updateSubscription(call.work, subscription, params)
    return render('subscription', subscription, call.work.tables)
  }),

  'Subscriptions.cancel': op<Stripe.SubscriptionCancelParams>((params, call) => {
    const { work } = call
    const subscription = work.require('subscription', idOf(call))
    if (isOver(subscription)) throw noSuch('subscription', subscription.id)
    cancelNow(work, subscription, params)
    return render('subscription', subscription, work.tables)
  }),

  'Subscriptions.list': op<Stripe.SubscriptionListParams>((params, { work, path }) => {
    const rows = params.customer
      ? work.findBy('subscription', 'customer', params.customer).reverse()
      : work.tables.subscription.newestFirst()
    const wanted = filterRows(
      rows,
      (row) =>
        hasStatus(row, params.status) &&
        (params.collection_method === undefined ||
          row.collection_method === params.collection_method) &&
        (params.price === undefined ||
          itemsOf(work, row).some((item) => item.price === params.price)) &&
        (params.automatic_tax === undefined ||
          row.automatic_tax.enabled === params.automatic_tax.enabled) &&
        isOnClock(row, params) &&
        inRange(row.created, params.created as Range | undefined),
    )
    return listPage(wanted, params, path, (row) => render('subscription', row, work.tables))
  }),

  'Subscriptions.search': op<Stripe.SubscriptionSearchParams>((params, { work, path }) =>
    searchPage(work.tables.subscription, params, path, {
      toWire: (row) => render('subscription', row, work.tables),
    }),
  ),

  'Subscriptions.deleteDiscount': op((_params, call) => {
    const { work } = call
    const subscription = work.require('subscription', idOf(call))
    const [id] = subscription.discounts
    const discount = id === undefined ? undefined : work.find('discount', id)
    if (!discount) {
      throw noSuch('discount', `for subscription ${subscription.id}`)
    }
    work.edit('subscription', subscription)
    subscription.discounts = subscription.discounts.filter((each) => each !== id)
    endDiscount(work, discount.id)
    const { end: _end, ...shown } = render('discount', discount, work.tables)
    return { ...shown, deleted: true }
  }),

  'Subscriptions.migrate': op<Stripe.SubscriptionMigrateParams>((_params, call) => {
    const { work } = call
    const subscription = work.edit('subscription', work.require('subscription', idOf(call)))
    if (subscription.billing_mode.type === 'flexible') {
      throw invalidRequest(
        'This subscription is already in flexible billing mode.',
        'billing_mode[type]',
      )
    }
    subscription.billing_mode = {
      flexible: { proration_discounts: 'included' },
      type: 'flexible',
      updated_at: work.now,
    }
    return render('subscription', subscription, work.tables)
  }),

  'Subscriptions.pause': op<Stripe.SubscriptionPauseParams>((params, call) => {
    const { work } = call
    const subscription = work.edit('subscription', work.require('subscription', idOf(call)))
    if (
      subscription.status !== 'active' &&
      subscription.status !== 'trialing' &&
      subscription.status !== 'past_due'
    ) {
      throw invalidRequest(
        `You cannot pause a subscription with the status ${subscription.status}.`,
      )
    }
    if (subscription.billing_mode.type === 'classic') {
      throw invalidRequest(
        'You can only pause a subscription in flexible billing mode. Migrate this subscription to flexible billing mode first.',
      )
    }
    if (subscription.schedule)
      throw invalidRequest('You cannot pause a subscription with an attached schedule.')
    if (params.bill_for?.unused_time_from) {
      for (const item of itemsOf(work, subscription)) {
        creditUnused(work, subscription, item, work.now)
        work.edit('subscription_item', item).$.billed = null
      }
    }
    subscription.status = 'paused'
    subscription.status_details = {
      paused: {
        subscription: { type: 'pause_requested' },
        transitioned_at: work.now,
        type: 'subscription',
      },
    }
    planNext(work, subscription)
    work.emit('customer.subscription.paused', 'subscription', subscription)
    return render('subscription', subscription, work.tables)
  }),

  'Subscriptions.resume': op<Stripe.SubscriptionResumeParams>((params, call) => {
    const { work } = call
    const subscription = work.edit('subscription', work.require('subscription', idOf(call)))
    if (subscription.status !== 'paused') {
      throw invalidRequest(
        `You can only resume subscriptions with the status \`paused\`. This subscription's status is \`${subscription.status}\`.`,
      )
    }
    resume(work, subscription, params)
    return render('subscription', subscription, work.tables)
  }),
}

function resume(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  params: Stripe.SubscriptionResumeParams,
): void {
  const ended = itemsOf(work, subscription).some((item) => item.current_period_end <= work.now)
  const unchanged = params.billing_cycle_anchor?.type === 'unchanged'
  delete subscription.status_details
  if (unchanged && !ended) {
    subscription.status = 'active'
    planNext(work, subscription)
    work.emit('customer.subscription.resumed', 'subscription', subscription)
    return
  }
  subscription.trial_end = subscription.trial_end && Math.min(subscription.trial_end, work.now)
  const { billed } = changeItems(work, subscription, {
    items: [],
    prorationBehavior: params.proration_behavior ?? 'create_prorations',
    resetAnchor: true,
  })
  const invoice = draftSubscriptionInvoice(work, subscription, {
    reason: 'subscription_update',
    items: billed,
    pending: 'subscription',
  })
  const isFree = announcePaused(work, subscription, invoice)
  if (!isFree) {
    work.emit('invoice.created', 'invoice', invoice)
    finalizeInvoice(work, invoice)
    if (invoice.amount_due > 0) {
      const outcome = collectInvoice(work, invoice)
      if (outcome.status === 'no_payment_method') throw noMethod()
    }
  }
  const isSettled = isFree || invoice.amount_due === 0
  if (isSettled || params.payment_behavior === 'resume_on_payment_attempt') {
    if (subscription.status === 'paused') {
      subscription.status = isFree || invoice.status === 'paid' ? 'active' : 'past_due'
      work.emit('customer.subscription.resumed', 'subscription', subscription)
    }
  }
  planNext(work, subscription)
}

export function cancelNow(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  params: Stripe.SubscriptionCancelParams,
): void {
  work.edit('subscription', subscription)
  if (params.prorate && subscription.status !== 'trialing') {
    for (const item of itemsOf(work, subscription)) creditUnused(work, subscription, item, work.now)
  }
  const details = params.cancellation_details
  subscription.cancellation_details = {
    comment: details?.comment || null,
    feedback: details?.feedback || null,
    feedback_option: null,
    reason: null,
  }
  const trialing = subscription.status === 'trialing'
  const usage = trialing ? [] : usagePeriods(work, itemsOf(work, subscription), work.now)
  const invoice = params.invoice_now
    ? draftSubscriptionInvoice(work, subscription, {
        reason: 'subscription_update',
        items: [],
        pending: 'subscription',
        usage,
      })
    : null
  if (!params.invoice_now && !params.prorate) dropPendingProrations(work, subscription)
  cancelSubscription(work, subscription, 'cancellation_requested')
  if (!invoice || announcePaused(work, subscription, invoice)) return
  work.emit('invoice.created', 'invoice', invoice)
  finalizeInvoice(work, invoice)
  if (invoice.amount_due > 0 && subscription.collection_method === 'charge_automatically')
    collectInvoice(work, invoice)
}

/** Cancelled at once without a last invoice, pending prorations are forgotten. */
function dropPendingProrations(work: UnitOfWork, subscription: SubscriptionRow): void {
  for (const item of work.findBy('invoiceitem', 'customer', subscription.customer)) {
    if (item.invoice !== null || !item.proration || item.$.subscription !== subscription.id)
      continue
    work.emit('invoiceitem.deleted', 'invoiceitem', item)
    work.remove('invoiceitem', item)
  }
}

/** Without a status, everything that is not canceled. */
/** Those on test clocks are only shown to who asks for their clock, or for one customer's. */
function isOnClock(row: SubscriptionRow, params: Stripe.SubscriptionListParams): boolean {
  if (params.test_clock !== undefined) return row.test_clock === params.test_clock
  return row.test_clock === null || params.customer !== undefined
}

function hasStatus(row: SubscriptionRow, status: string | undefined): boolean {
  if (status === 'all') return true
  if (status === undefined) return row.status !== 'canceled' && row.status !== 'incomplete_expired'
  if (status === 'ended') return isOver(row)
  return row.status === status
}
