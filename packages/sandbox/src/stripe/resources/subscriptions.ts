import type Stripe from 'stripe'
import { isInRange } from '../api/lists.ts'
import type { StripeOperations } from '../api/operation.ts'
import {
  changeOperation,
  customOperation,
  listRows,
  retrieveOperation,
  searchOperation,
} from '../api/resource.ts'
import { collectInvoice, finalizeInvoice } from '../invoices/invoice-payment.ts'
import { endDiscount } from '../state/discounts.ts'
import { renderRow } from '../state/render.ts'
import type { SubscriptionItemRow, SubscriptionRow } from '../state/rows.ts'
import {
  cancelSubscription,
  hasEnded,
  NOT_CANCELED,
  pauseSubscription,
  storeNextDueTime,
} from '../state/subscription-status.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { applyPausedCollection } from '../subscriptions/paused-collection.ts'
import { creditUnusedTime } from '../subscriptions/proration.ts'
import { createSubscription } from '../subscriptions/subscription-create.ts'
import { createNoPaymentMethodFault } from '../subscriptions/subscription-first-payment.ts'
import { draftSubscriptionInvoice } from '../subscriptions/subscription-invoice.ts'
import { changeItems, listSubscriptionItems } from '../subscriptions/subscription-swap.ts'
import { updateSubscription } from '../subscriptions/subscription-update.ts'
import { listUsagePeriods } from '../subscriptions/usage.ts'
import { createInvalidRequestFault, createNoSuchObjectFault } from '../wire/errors.ts'
import { pickSentFields } from '../wire/fields.ts'

export const subscriptionOperations: StripeOperations = {
  'Subscriptions.create': customOperation('subscription', (params, { work }) =>
    createSubscription(work, params),
  ),
  'Subscriptions.retrieve': retrieveOperation('subscription'),

  'Subscriptions.update': changeOperation('subscription', (row, params, { work }) => {
    updateSubscription(work, row, params)
  }),
  'Subscriptions.cancel': changeOperation('subscription', (subscription, params, { work }) => {
    if (hasEnded(subscription)) throw createNoSuchObjectFault('subscription', subscription.id)
    cancelNow(work, subscription, params)
  }),
  /**
   * Without a status, lists subscriptions that have not ended. Subscriptions on a test clock are
   * listed only if the call names the clock or the customer.
   */
  'Subscriptions.list': ({ status = 'current', ...params }, call) => {
    const hasItem = (row: SubscriptionRow, test: (item: SubscriptionItemRow) => boolean) =>
      listSubscriptionItems(call.work, row).some(test)
    const onClock = params.customer === undefined ? { test_clock: null } : {}
    return listRows('subscription', { status, ...onClock, ...params }, call, {
      by: ['customer'],
      where: {
        status: hasStatus,
        price: (row, price) => hasItem(row, (item) => item.price === price),
        plan: (row, plan) => hasItem(row, (item) => item.price === plan),
        current_period_start: (row, range) =>
          hasItem(row, (item) => isInRange(item.current_period_start, range)),
        current_period_end: (row, range) =>
          hasItem(row, (item) => isInRange(item.current_period_end, range)),
      },
    })
  },
  'Subscriptions.search': searchOperation('subscription'),

  'Subscriptions.deleteDiscount': (_params, { work, id }) => {
    const subscription = work.require('subscription', id)
    const [first = ''] = subscription.discounts
    const discount = work.find('discount', first)
    if (!discount) throw createNoSuchObjectFault('discount', `for subscription ${subscription.id}`)
    work.edit('subscription', subscription)
    subscription.discounts = subscription.discounts.filter((each) => each !== first)
    endDiscount(work, discount.id)
    const { end: _end, ...shown } = renderRow('discount', discount, work.tables)
    return { ...shown, deleted: true }
  },

  'Subscriptions.migrate': changeOperation('subscription', (subscription, _params, { work }) => {
    if (subscription.billing_mode.type === 'flexible') {
      throw createInvalidRequestFault(
        'This subscription is already in flexible billing mode.',
        'billing_mode[type]',
      )
    }
    subscription.billing_mode = {
      flexible: { proration_discounts: 'included' },
      type: 'flexible',
      updated_at: work.now,
    }
  }),

  'Subscriptions.pause': changeOperation('subscription', (subscription, params, { work }) => {
    if (!['active', 'trialing', 'past_due'].includes(subscription.status)) {
      throw createInvalidRequestFault(
        `You cannot pause a subscription with the status ${subscription.status}.`,
      )
    }
    if (subscription.billing_mode.type === 'classic') {
      throw createInvalidRequestFault(
        'You can only pause a subscription in flexible billing mode. Migrate this subscription to flexible billing mode first.',
      )
    }
    if (subscription.schedule)
      throw createInvalidRequestFault('You cannot pause a subscription with an attached schedule.')
    if (params.bill_for?.unused_time_from) {
      for (const item of listSubscriptionItems(work, subscription)) {
        creditUnusedTime(work, subscription, item, work.now)
        work.edit('subscription_item', item).$.billed = null
      }
    }
    pauseSubscription(work, subscription, 'pause_requested')
    storeNextDueTime(work, subscription)
  }),

  'Subscriptions.resume': changeOperation('subscription', (subscription, params, { work }) => {
    if (subscription.status !== 'paused') {
      throw createInvalidRequestFault(
        `You can only resume subscriptions with the status \`paused\`. This subscription's status is \`${subscription.status}\`.`,
      )
    }
    resume(work, subscription, params)
  }),
}

function resume(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  params: Stripe.SubscriptionResumeParams,
): void {
  const ended = listSubscriptionItems(work, subscription).some(
    (item) => item.current_period_end <= work.now,
  )
  const unchanged = params.billing_cycle_anchor?.type === 'unchanged'
  delete subscription.status_details
  if (unchanged && !ended) {
    subscription.status = 'active'
    storeNextDueTime(work, subscription)
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
  const isFree = applyPausedCollection(work, subscription, invoice)
  if (!isFree) {
    work.emit('invoice.created', 'invoice', invoice)
    finalizeInvoice(work, invoice)
    if (invoice.amount_due > 0) {
      const outcome = collectInvoice(work, invoice)
      if (outcome.status === 'no_payment_method') throw createNoPaymentMethodFault()
    }
  }
  const isSettled = isFree || invoice.amount_due === 0
  if (isSettled || params.payment_behavior === 'resume_on_payment_attempt') {
    if (subscription.status === 'paused') {
      subscription.status = isFree || invoice.status === 'paid' ? 'active' : 'past_due'
      work.emit('customer.subscription.resumed', 'subscription', subscription)
    }
  }
  storeNextDueTime(work, subscription)
}

export function cancelNow(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  params: Stripe.SubscriptionCancelParams,
): void {
  work.edit('subscription', subscription)
  if (params.prorate && subscription.status !== 'trialing') {
    for (const item of listSubscriptionItems(work, subscription))
      creditUnusedTime(work, subscription, item, work.now)
  }
  subscription.cancellation_details = {
    ...NOT_CANCELED,
    ...pickSentFields(params.cancellation_details, 'comment', 'feedback'),
  }
  const trialing = subscription.status === 'trialing'
  const usage = trialing
    ? []
    : listUsagePeriods(work, listSubscriptionItems(work, subscription), work.now)
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
  if (!invoice || applyPausedCollection(work, subscription, invoice)) return
  work.emit('invoice.created', 'invoice', invoice)
  finalizeInvoice(work, invoice)
  if (invoice.amount_due > 0 && subscription.collection_method === 'charge_automatically')
    collectInvoice(work, invoice)
}

/**
 * Deletes pending prorations when a subscription is canceled immediately without a final invoice.
 */
function dropPendingProrations(work: UnitOfWork, subscription: SubscriptionRow): void {
  for (const item of work.findBy('invoiceitem', 'customer', subscription.customer)) {
    if (item.invoice !== null || !item.proration || item.$.subscription !== subscription.id)
      continue
    work.emit('invoiceitem.deleted', 'invoiceitem', item)
    work.remove('invoiceitem', item)
  }
}

function hasStatus(row: SubscriptionRow, status: string): boolean {
  if (status === 'all') return true
  if (status === 'current') return row.status !== 'canceled' && row.status !== 'incomplete_expired'
  return status === 'ended' ? hasEnded(row) : row.status === status
}
