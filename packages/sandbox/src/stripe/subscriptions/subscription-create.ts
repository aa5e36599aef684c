import type Stripe from 'stripe'
import { redeemDiscounts } from '../catalog/redeem-discounts.ts'
import { requireTaxRates } from '../catalog/tax-rates.ts'
import { addInvoiceItems } from '../invoices/invoice-items.ts'
import { finalizeInvoice, keepInvoiceAsDraft } from '../invoices/invoice-payment.ts'
import { requireCustomer } from '../payments/customer.ts'
import { requireTaxLocation } from '../payments/tax-location.ts'
import { checkSubscriptionLimit } from '../state/clock-limits.ts'
import type { InvoiceRow, SubscriptionRow } from '../state/rows.ts'
import { NOT_CANCELED, storeNextDueTime } from '../state/subscription-status.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import {
  createInvalidRequestFault,
  createMissingParamFault,
  createMutuallyExclusiveFault,
} from '../wire/errors.ts'
import { mergeMetadata } from '../wire/fields.ts'
import {
  computeFirstPeriod,
  createFirstBilledTimesFinder,
  readStart,
  renderAnchorConfig,
} from './first-period.ts'
import {
  type FirstPayment,
  payFirstInvoice,
  requestPaymentMethod,
} from './subscription-first-payment.ts'
import { draftSubscriptionInvoice, wouldInvoiceBeEmpty } from './subscription-invoice.ts'
import {
  checkActive,
  checkDuplicates,
  createSubscriptionItem,
  requireItemPrice,
  type SubscriptionItemParams,
} from './subscription-items.ts'
import { checkMixedIntervals, readBillingMode, resolveCurrency } from './subscription-params.ts'
import {
  applyAutomaticTax,
  applySettings,
  buildAutomaticTaxSettings,
  resolveCancelDate,
} from './subscription-settings.ts'

export function createSubscription(
  work: UnitOfWork,
  params: Stripe.SubscriptionCreateParams,
  options: FirstPayment = {},
): SubscriptionRow {
  checkSubscriptionLimit(work, params.customer)
  const place = work.eventCount
  const begun = beginSubscription(work, params)
  billFirstInvoice(work, begun, params, options)
  const { subscription } = begun
  // Emitted in its final state but before its invoice, because a subscription waiting for its first
  // payment was never active.
  work.insertEventAt(place, 'customer.subscription.created', 'subscription', subscription)
  return subscription
}

function billFirstInvoice(
  work: UnitOfWork,
  { subscription, invoice }: NewSubscriptionRows,
  params: Stripe.SubscriptionCreateParams,
  options: FirstPayment,
): void {
  if (subscription.automatic_tax.enabled) {
    requireTaxLocation(work, work.require('customer', subscription.customer))
  }
  if (!invoice) {
    if (subscription.collection_method === 'charge_automatically')
      requestPaymentMethod(work, subscription, params)
    return
  }
  work.emit('invoice.created', 'invoice', invoice)
  if (subscription.collection_method === 'send_invoice') {
    invoice.$.nextAt = work.now + 3600
    invoice.automatically_finalizes_at = work.now + 3600
    return
  }
  finalizeInvoice(work, invoice)
  if (invoice.amount_due === 0) requestPaymentMethod(work, subscription, params)
  else payFirstInvoice(work, subscription, invoice, params, options)
  storeNextDueTime(work, subscription)
}

/**
 * Creates a subscription for a schedule, without the customer being present. It is active
 * immediately, and its first invoice is a draft for an hour. If that invoice cannot be paid, the
 * subscription becomes past due.
 */
export function createScheduledSubscription(
  work: UnitOfWork,
  params: Stripe.SubscriptionCreateParams,
): SubscriptionRow {
  const { subscription, invoice } = beginSubscription(work, params)
  work.emit('customer.subscription.created', 'subscription', subscription)
  if (invoice) {
    keepInvoiceAsDraft(work, invoice)
    work.emit('invoice.created', 'invoice', invoice)
  }
  return subscription
}

interface NewSubscriptionRows {
  readonly subscription: SubscriptionRow
  readonly invoice: InvoiceRow | null
}

/** Creates a subscription and its first invoice, without emitting events about them. */
export function beginSubscription(
  work: UnitOfWork,
  params: Stripe.SubscriptionCreateParams,
): NewSubscriptionRows {
  const subscription = draftSubscription(work, params)
  const invoice = createFirstInvoice(work, subscription, params)
  storeNextDueTime(work, subscription)
  return { subscription, invoice }
}

/** Creates a subscription and its items without billing them. Also used for previews. */
export function draftSubscription(
  work: UnitOfWork,
  params: Stripe.SubscriptionCreateParams,
): SubscriptionRow {
  if (params.customer === undefined) throw createMissingParamFault('customer')
  if (!params.items || params.items.length === 0) throw createMissingParamFault('items')
  if (params.items.length > 20)
    throw createInvalidRequestFault('You may pass up to 20 items.', 'items')
  if (params.payment_behavior === 'pending_if_incomplete') {
    throw createInvalidRequestFault(
      '`pending_if_incomplete` is only for updating a subscription.',
      'payment_behavior',
    )
  }
  const customer = requireCustomer(work, params.customer, 'customer')
  const items = params.items.map((item, at) => {
    const price = requireItemPrice(work, item as SubscriptionItemParams, `items[${at}]`)
    checkActive(work, price, `items[${at}]`)
    return { price, params: item as SubscriptionItemParams }
  })
  const prices = items.map((item) => item.price)
  checkDuplicates(prices.map((price) => price.id))
  const currency = resolveCurrency(customer, prices, params.currency)
  const id = work.newId('sub_1')
  const start = readStart(work, params, prices)
  const { began, trialEnd } = start
  // One literal with all fields, including computed ones: V8 then copies it about twenty times
  // faster.
  const subscription: SubscriptionRow = {
    application: null,
    application_fee_percent: null,
    billing_cycle_anchor_config: renderAnchorConfig(params.billing_cycle_anchor_config),
    billing_thresholds: null,
    cancel_at: null,
    canceled_at: null,
    cancellation_details: NOT_CANCELED,
    customer_account: null,
    days_until_due: null,
    default_payment_method: null,
    default_source: null,
    description: null,
    ended_at: null,
    latest_invoice: null,
    managed_payments: null,
    next_pending_invoice_item_invoice: null,
    on_behalf_of: null,
    pause_collection: null,
    payment_settings: {
      payment_method_options: null,
      payment_method_types: null,
      save_default_payment_method: 'off',
    },
    pending_invoice_item_interval: null,
    pending_setup_intent: null,
    pending_update: null,
    schedule: null,
    test_clock: customer.test_clock ?? null,
    transfer_data: null,
    trial_end: trialEnd,
    trial_settings: {
      end_behavior: { billing_cycle_anchor: null, missing_payment_method: 'create_invoice' },
    },
    trial_start: trialEnd === null ? null : work.now,
    id,
    object: 'subscription',
    automatic_tax: buildAutomaticTaxSettings(false),
    billing_cycle_anchor: start.anchor,
    billing_mode: readBillingMode(params),
    billing_schedules: [],
    cancel_at_period_end: false,
    collection_method: params.collection_method ?? 'charge_automatically',
    created: work.now,
    currency,
    customer: customer.id,
    default_tax_rates: requireTaxRates(work, params.default_tax_rates ?? null, 'default_tax_rates'),
    discounts: [],
    invoice_settings: {
      account_tax_ids: null,
      custom_fields: null,
      description: null,
      footer: null,
      issuer: { type: 'self' },
    },
    livemode: false,
    metadata: mergeMetadata({}, params.metadata),
    start_date: began,
    status: trialEnd === null ? 'active' : 'trialing',
    $: {
      nextAt: null,
      trialNoticeSent: trialEnd === null,
      incompleteUntil: null,
      pendingUpdateParams: null,
      upcomingFor: null,
    },
    items: undefined,
  }
  work.insert('subscription', subscription)
  subscription.discounts = redeemDiscounts(work, params.discounts ?? null, {
    customer,
    subscription: id,
    start: began,
    currency,
    bought: items.map(({ price, params: { quantity = 1 } }) => ({ price: price.id, quantity })),
  })
  checkMixedIntervals(subscription, prices)
  items.forEach(({ price, params: item }, at) => {
    const period = computeFirstPeriod(work, price, start)
    createSubscriptionItem(
      work,
      { subscription: id, customer, currency },
      price,
      item,
      period,
      `items[${at}]`,
    )
  })
  applySettings(work, subscription, params)
  applyAutomaticTax(work, subscription, params)
  if (customer.currency === null || customer.currency === undefined)
    work.edit('customer', customer).currency = currency
  applyCancellation(work, subscription, params)
  return subscription
}

function applyCancellation(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  params: Stripe.SubscriptionCreateParams,
): void {
  if (params.cancel_at !== undefined && params.cancel_at_period_end) {
    throw createMutuallyExclusiveFault('cancel_at, cancel_at_period_end')
  }
  if (params.cancel_at_period_end) {
    subscription.cancel_at_period_end = true
    subscription.cancel_at = resolveCancelDate(work, subscription, 'min_period_end')
    subscription.canceled_at = work.now
  } else if (params.cancel_at !== undefined) {
    subscription.cancel_at = resolveCancelDate(work, subscription, params.cancel_at)
    subscription.canceled_at = work.now
  }
}

/**
 * Drafts the first invoice of a subscription. Returns `null` if nothing is billed before the
 * anchor, or all prices are metered.
 */
export function createFirstInvoice(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  params: Stripe.SubscriptionCreateParams,
): InvoiceRow | null {
  const items = work.findBy('subscription_item', 'subscription', subscription.id)
  addInvoiceItems(work, subscription, params.add_invoice_items as never)
  if (wouldInvoiceBeEmpty(work, subscription, { items, pending: 'all' })) return null
  const prorates = params.proration_behavior !== 'none'
  const isLater = subscription.status !== 'trialing' && subscription.billing_cycle_anchor > work.now
  if (isLater && !prorates && !params.add_invoice_items) return null
  return draftSubscriptionInvoice(work, subscription, {
    reason: 'subscription_create',
    items: isLater && !prorates ? [] : items,
    pending: 'all',
    times: createFirstBilledTimesFinder(work, subscription, { prorates }),
  })
}
