import type Stripe from 'stripe'
import { redeemDiscounts } from '../catalog/redeem-discounts.ts'
import { requireTaxRates } from '../catalog/tax-rates.ts'
import { addInvoiceItems } from '../invoices/invoice-items.ts'
import {
  collectInvoice,
  finalizeInvoice,
  findPaymentMethodForInvoice,
  voidInvoice,
} from '../invoices/invoice-payment.ts'
import { requireTaxLocation } from '../payments/tax-location.ts'
import { endDiscount } from '../state/discounts.ts'
import {
  captureSubscriptionState,
  expirePendingUpdate,
  makeUpdatePending,
} from '../state/pending-update.ts'
import type { InvoiceRow, SubscriptionRow } from '../state/rows.ts'
import {
  hasEnded,
  NOT_CANCELED,
  onInvoiceUnpaid,
  stopAutoAdvance,
  storeNextDueTime,
} from '../state/subscription-status.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { createInvalidRequestFault, createMutuallyExclusiveFault } from '../wire/errors.ts'
import { mergeMetadata, pickSentFields } from '../wire/fields.ts'
import { splitWords } from '../wire/words.ts'
import { applyPausedCollection } from './paused-collection.ts'
import { prorateEnd } from './proration.ts'
import { syncCurrentPhase } from './schedules/phase-of.ts'
import {
  createNoPaymentMethodFault,
  createNotPaidFault,
  type FirstPayment,
} from './subscription-first-payment.ts'
import { draftSubscriptionInvoice, wouldInvoiceBeEmpty } from './subscription-invoice.ts'
import { listItemsAfterChange, type SubscriptionItemParams } from './subscription-items.ts'
import { applyAutomaticTax, applySettings, resolveCancelDate } from './subscription-settings.ts'
import { changeItems, type ItemChanges, listSubscriptionItems } from './subscription-swap.ts'

type Params = Stripe.SubscriptionUpdateParams

/** Parameters allowed together with `pending_if_incomplete`. */
const ALLOWED_WHEN_PENDING = new Set(
  splitWords(`
    expand payment_behavior proration_behavior proration_date billing_cycle_anchor items
    trial_end trial_from_plan add_invoice_items off_session discounts metadata
    cancel_at_period_end
  `),
)

const ITEM_ALLOWED_WHEN_PENDING = new Set(['id', 'price', 'price_data', 'quantity', 'discounts'])

export function updateSubscription(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  params: Params,
  options: FirstPayment = {},
): void {
  if (isReplacing(subscription, params)) {
    const unpaid = work.find('invoice', expirePendingUpdate(work, subscription) ?? '')
    if (unpaid?.status === 'open') voidInvoice(work, unpaid)
  }
  const plan = applyUpdate(work, subscription, params)
  if (params.automatic_tax?.enabled) {
    requireTaxLocation(work, work.require('customer', subscription.customer))
  }
  if (plan.invoice) payUpdateInvoice(work, subscription, plan.invoice, plan.before, params, options)
  syncCurrentPhase(work, subscription)
  storeNextDueTime(work, subscription)
}

/**
 * Applies an update to a subscription without collecting a payment. Drafts the invoice that must be
 * paid now, if there is one.
 */
export function applyUpdate(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  params: Params,
): {
  invoice: InvoiceRow | null
  before: ReturnType<typeof captureSubscriptionState>
  changes: ItemChanges
} {
  checkUpdatable(subscription, params)
  const before = captureSubscriptionState(work, subscription)
  work.edit('subscription', subscription)
  applyPlainParams(work, subscription, params)
  const changes = changeItems(work, subscription, {
    items: (params.items ?? []) as readonly SubscriptionItemParams[],
    prorationBehavior: params.proration_behavior ?? 'create_prorations',
    prorationDate: params.proration_date,
    resetAnchor: params.billing_cycle_anchor?.type === 'now',
    trialEnd: params.trial_end,
  })
  applyAutomaticTax(work, subscription, params)
  addInvoiceItems(work, subscription, params.add_invoice_items as never)
  const endProrated = applyCancellation(work, subscription, params, changes)
  const invoicesEnd = endProrated && params.proration_behavior === 'always_invoice'
  const wanted = { items: changes.billed, pending: 'subscription' } as const
  const nothing = !invoicesEnd && wouldInvoiceBeEmpty(work, subscription, wanted)
  if ((!changes.invoiceNow && !invoicesEnd) || nothing) return { invoice: null, before, changes }
  const invoice = draftSubscriptionInvoice(work, subscription, {
    reason: 'subscription_update',
    items: changes.billed,
    pending: 'subscription',
  })
  return { invoice, before, changes }
}

/** Whether this update replaces a pending one. */
function isReplacing({ pending_update: held }: SubscriptionRow, params: Params): boolean {
  if (!held) return false
  const ends = params.cancel_at_period_end
  return (
    params.payment_behavior === 'pending_if_incomplete' ||
    params.items !== undefined ||
    params.trial_end !== undefined ||
    params.billing_cycle_anchor !== undefined ||
    (ends !== undefined && ends !== (held.cancel_at_period_end ?? ends))
  )
}

function checkUpdatable(subscription: SubscriptionRow, params: Params): void {
  if (hasEnded(subscription)) {
    const extra = Object.keys(params).filter(
      (key) => !['metadata', 'cancellation_details', 'expand'].includes(key),
    )
    if (extra.length > 0) {
      throw createInvalidRequestFault(
        'A canceled subscription can only update its cancellation_details and metadata.',
        extra[0],
      )
    }
  }
  if (subscription.schedule) checkScheduled(subscription.schedule, params)
  if (params.payment_behavior === 'pending_if_incomplete') {
    const refused = disallowedWhenPending(params)
    if (refused !== undefined) {
      throw createInvalidRequestFault(
        `When passing \`payment_behavior\` equal to \`pending_if_incomplete\`, you can only pass supported params to the request body. Disallowed param: ${refused}.`,
        refused,
      )
    }
  }
  if (subscription.status === 'incomplete' && (params.items || params.trial_end !== undefined)) {
    throw createInvalidRequestFault(
      'This subscription is incomplete: its first invoice must be paid before its items can change.',
      params.items ? 'items' : 'trial_end',
    )
  }
}

function disallowedWhenPending(params: Params): string | undefined {
  const refused = Object.keys(params).find((key) => !ALLOWED_WHEN_PENDING.has(key))
  if (refused !== undefined) return refused
  return (params.items ?? [])
    .flatMap((item, at) => Object.keys(item).map((key) => ({ key, path: `items[${at}][${key}]` })))
    .find(({ key }) => !ITEM_ALLOWED_WHEN_PENDING.has(key))?.path
}

/**
 * Checks an update of a subscription with a schedule. Its prices can change, but its end, trial and
 * anchor only through the schedule.
 */
function checkScheduled(schedule: string, params: Params): void {
  const ends = params.cancel_at !== undefined || params.cancel_at_period_end !== undefined
  const moves = params.trial_end !== undefined || params.billing_cycle_anchor !== undefined
  if (!ends && !moves) return
  const what = ends ? 'any cancelation behavior' : 'its trial or billing cycle'
  throw createInvalidRequestFault(
    `The subscription is managed by the subscription schedule \`${schedule}\`, and updating ${what} directly is not allowed. Please update the schedule instead.`,
  )
}

function applyPlainParams(work: UnitOfWork, subscription: SubscriptionRow, params: Params): void {
  const customer = work.require('customer', subscription.customer)
  subscription.metadata = mergeMetadata(subscription.metadata, params.metadata)
  applySettings(work, subscription, params)
  if (params.default_tax_rates !== undefined) {
    subscription.default_tax_rates = requireTaxRates(
      work,
      params.default_tax_rates,
      'default_tax_rates',
    )
  }
  if (params.discounts !== undefined) {
    const old = subscription.discounts
    subscription.discounts = redeemDiscounts(work, params.discounts, {
      customer,
      subscription: subscription.id,
      currency: subscription.currency,
      bought: listItemsAfterChange(
        work,
        subscription.id,
        (params.items ?? []) as readonly SubscriptionItemParams[],
      ),
    })
    for (const id of old) if (!subscription.discounts.includes(id)) endDiscount(work, id)
  }
  if (params.cancellation_details) {
    subscription.cancellation_details = {
      ...NOT_CANCELED,
      ...subscription.cancellation_details,
      ...pickSentFields(params.cancellation_details, 'comment', 'feedback'),
    }
  }
  const pause = params.pause_collection
  if (pause === '' || pause === null) subscription.pause_collection = null
  else if (pause) {
    if (pause.resumes_at !== undefined && pause.resumes_at <= work.now) {
      throw createInvalidRequestFault(
        '`resumes_at` must be in the future.',
        'pause_collection[resumes_at]',
      )
    }
    subscription.pause_collection = {
      behavior: pause.behavior,
      resumes_at: pause.resumes_at ?? null,
    }
  }
}

/** Sets or clears the end of the subscription. Returns whether this caused a proration. */
function applyCancellation(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  params: Params,
  { billed }: ItemChanges,
): boolean {
  setEnd(work, subscription, params)
  const touched = params.cancel_at !== undefined || params.cancel_at_period_end !== undefined
  if (!touched || params.proration_behavior === 'none' || subscription.status === 'trialing')
    return false
  // Items that start a new period are billed for all of it, so nothing of them was credited.
  return listSubscriptionItems(work, subscription)
    .filter(({ id }) => subscription.cancel_at !== null || !billed.some((item) => item.id === id))
    .map((item) => prorateEnd(work, subscription, item))
    .some(Boolean)
}

function setEnd(work: UnitOfWork, subscription: SubscriptionRow, params: Params): void {
  const { cancel_at: cancelAt, cancel_at_period_end: atPeriodEnd } = params
  const unsets = cancelAt === '' || cancelAt === null
  if (cancelAt !== undefined && !unsets && atPeriodEnd) {
    throw createMutuallyExclusiveFault('cancel_at, cancel_at_period_end')
  }
  const clears = unsets || (atPeriodEnd === false && subscription.cancel_at_period_end)
  if (atPeriodEnd) {
    if (!subscription.cancel_at_period_end) subscription.canceled_at = work.now
    subscription.cancel_at_period_end = true
    subscription.cancel_at = resolveCancelDate(work, subscription, 'min_period_end')
    setCancellationReason(subscription, 'cancellation_requested')
  } else if (cancelAt !== undefined && !unsets) {
    subscription.cancel_at_period_end = false
    subscription.cancel_at = resolveCancelDate(work, subscription, cancelAt)
    subscription.canceled_at = work.now
    setCancellationReason(subscription, 'cancellation_requested')
  } else if (clears) {
    subscription.cancel_at_period_end = false
    subscription.cancel_at = null
    subscription.canceled_at = null
    setCancellationReason(subscription, null)
  } else if (subscription.cancel_at_period_end) {
    // The change of items may have moved the period.
    subscription.cancel_at = resolveCancelDate(work, subscription, 'min_period_end')
  }
}

function setCancellationReason(
  subscription: SubscriptionRow,
  reason: 'cancellation_requested' | null,
): void {
  const { cancellation_details: details } = subscription
  if (details) subscription.cancellation_details = { ...details, reason }
}

/** Finalizes the invoice of an update and pays it, according to `payment_behavior`. */
function payUpdateInvoice(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  invoice: InvoiceRow,
  stateBefore: ReturnType<typeof captureSubscriptionState>,
  params: Pick<Params, 'payment_behavior' | 'off_session' | 'metadata' | 'cancel_at_period_end'>,
  { authenticated = false }: FirstPayment,
): void {
  if (applyPausedCollection(work, subscription, invoice)) return
  const behavior = params.payment_behavior ?? 'allow_incomplete'
  work.emit('invoice.created', 'invoice', invoice)
  if (subscription.collection_method === 'send_invoice') {
    invoice.$.nextAt = work.now + 3600
    invoice.automatically_finalizes_at = work.now + 3600
    return
  }
  finalizeInvoice(work, invoice)
  if (invoice.amount_due === 0) return
  if (behavior === 'default_incomplete') {
    onInvoiceUnpaid(work, invoice)
    return
  }
  if (findPaymentMethodForInvoice(work, invoice) === null && behavior === 'error_if_incomplete')
    throw createNoPaymentMethodFault()
  const customer = work.require('customer', subscription.customer)
  const delinquent = customer.delinquent ?? false
  const offSession = params.off_session ?? false
  const outcome = collectInvoice(work, invoice, { offSession, authenticated })
  if (outcome.status === 'succeeded' || outcome.status === 'processing') return
  if (behavior === 'pending_if_incomplete') {
    makeUpdatePending(work, subscription, stateBefore, invoice.id, params)
    work.edit('customer', customer).delinquent = delinquent
    stopAutoAdvance(work.edit('invoice', invoice))
  } else if (behavior === 'error_if_incomplete') throw createNotPaidFault(outcome)
}
