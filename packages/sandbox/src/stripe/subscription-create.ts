import type Stripe from 'stripe'
import { redeemDiscounts } from './discounts.ts'
import { invalidRequest, missingParam, StripeFault, withDocs } from './errors.ts'
import { refreshTotals } from './invoice-draft.ts'
import { addInvoiceItems } from './invoice-items.ts'
import { collectInvoice, finalizeInvoice, methodFor } from './invoice-payment.ts'
import { mergeMetadata } from './metadata.ts'
import { cardFault, needsSetup } from './payments.ts'
import { periodAt, sameRecurrence } from './periods.ts'
import { debitRemaining } from './proration.ts'
import { render } from './render.ts'
import { requireCustomer, requireOwnMethod } from './resources/customers.ts'
import { newSetupIntent } from './resources/setup-intents.ts'
import { requireTaxRates } from './resources/tax-rates.ts'
import type { CustomerRow, InvoiceRow, PriceRow, SubscriptionRow } from './rows.ts'
import { draftSubscriptionInvoice } from './subscription-invoice.ts'
import {
  checkActive,
  checkDuplicates,
  type ItemParams,
  newItem,
  requireItemPrice,
} from './subscription-items.ts'
import { applySettings, cancelDate } from './subscription-settings.ts'
import { planNext } from './subscription-state.ts'
import type { UnitOfWork } from './unit-of-work.ts'
import { nulls } from './wire.ts'

const DAY = 86_400
const TWO_YEARS = 731 * DAY

export function createSubscription(
  work: UnitOfWork,
  params: Stripe.SubscriptionCreateParams,
): SubscriptionRow {
  const subscription = draftSubscription(work, params)
  const invoice = firstInvoice(work, subscription, params)
  planNext(work, subscription)
  work.emit('customer.subscription.created', 'subscription', subscription)
  if (!invoice) return subscription
  work.emit('invoice.created', 'invoice', invoice)
  if (subscription.collection_method === 'send_invoice') {
    invoice.$.nextAt = work.now + 3600
    invoice.automatically_finalizes_at = work.now + 3600
    return subscription
  }
  finalizeInvoice(work, invoice)
  if (invoice.amount_due === 0) askForMethod(work, subscription, params)
  else payFirst(work, subscription, invoice, params)
  planNext(work, subscription)
  return subscription
}

/** The subscription and its items, not yet billed: also what a preview starts from. */
export function draftSubscription(
  work: UnitOfWork,
  params: Stripe.SubscriptionCreateParams,
): SubscriptionRow {
  if (params.customer === undefined) throw missingParam('customer')
  if (!params.items || params.items.length === 0) throw missingParam('items')
  if (params.items.length > 20) throw invalidRequest('You may pass up to 20 items.', 'items')
  if (params.payment_behavior === 'pending_if_incomplete') {
    throw invalidRequest(
      '`pending_if_incomplete` is only for updating a subscription.',
      'payment_behavior',
    )
  }
  const customer = requireCustomer(work, params.customer, 'customer')
  const items = params.items.map((item, at) => {
    const price = requireItemPrice(work, item as ItemParams, `items[${at}]`)
    checkActive(work, price, `items[${at}]`)
    return { price, params: item as ItemParams }
  })
  const prices = items.map((item) => item.price)
  checkDuplicates(prices.map((price) => price.id))
  const currency = checkCurrency(customer, prices, params.currency)
  const id = work.newId('sub_1')
  const trialEnd = readTrialEnd(work, params, prices)
  const anchor = readAnchor(work, params, trialEnd)
  const subscription: SubscriptionRow = {
    ...nulls<Stripe.Subscription>('subscription'),
    id,
    object: 'subscription',
    automatic_tax: { disabled_reason: null, enabled: false, liability: null },
    billing_cycle_anchor: anchor,
    billing_mode: readBillingMode(params),
    billing_schedules: [],
    cancel_at_period_end: false,
    cancellation_details: { comment: null, feedback: null, feedback_option: null, reason: null },
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
    payment_settings: {
      payment_method_options: null,
      payment_method_types: null,
      save_default_payment_method: 'off',
    },
    start_date: work.now,
    status: trialEnd === null ? 'active' : 'trialing',
    test_clock: customer.test_clock ?? null,
    trial_end: trialEnd,
    trial_settings: {
      end_behavior: { billing_cycle_anchor: null, missing_payment_method: 'create_invoice' },
    },
    trial_start: trialEnd === null ? null : work.now,
    $: {
      nextAt: null,
      trialNoticeSent: trialEnd === null,
      incompleteUntil: null,
      pausedAnchor: null,
      pendingUpdateParams: null,
    },
  }
  work.insert('subscription', subscription)
  subscription.discounts = redeemDiscounts(work, params.discounts ?? null, {
    customer,
    subscription: id,
    currency,
  })
  checkMixedIntervals(subscription, prices)
  items.forEach(({ price, params: item }, at) => {
    const period = firstPeriod(work, price, trialEnd, anchor)
    newItem(work, { subscription: id, customer, currency }, price, item, period, `items[${at}]`)
  })
  if (params.default_payment_method !== undefined) {
    subscription.default_payment_method = requireOwnMethod(
      work,
      customer,
      params.default_payment_method,
      'default_payment_method',
    )
  }
  applySettings(subscription, params)
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
    throw invalidRequest(
      'You may only specify one of these parameters: cancel_at, cancel_at_period_end.',
    )
  }
  if (params.cancel_at_period_end) {
    subscription.cancel_at_period_end = true
    subscription.cancel_at = Math.max(
      ...work
        .findBy('subscription_item', 'subscription', subscription.id)
        .map((item) => item.current_period_end),
    )
    subscription.canceled_at = work.now
  } else if (params.cancel_at !== undefined) {
    subscription.cancel_at = cancelDate(work, subscription, params.cancel_at)
    subscription.canceled_at = work.now
  }
}

/** A trial's period ends with the trial; a later anchor's first period ends at the anchor. */
function firstPeriod(work: UnitOfWork, price: PriceRow, trialEnd: number | null, anchor: number) {
  if (trialEnd !== null) return { start: work.now, end: trialEnd }
  if (!price.recurring) throw new TypeError('A subscription item needs a recurring price')
  if (anchor > work.now) {
    // The anchor may be several periods away; the first boundary counts.
    return { start: work.now, end: periodAt(anchor, price.recurring, work.now).end }
  }
  return periodAt(anchor, price.recurring, work.now)
}

function firstInvoice(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  params: Stripe.SubscriptionCreateParams,
): InvoiceRow | null {
  const items = work.findBy('subscription_item', 'subscription', subscription.id)
  addInvoiceItems(work, subscription, params.add_invoice_items as never)
  const shortened =
    subscription.status !== 'trialing' && subscription.billing_cycle_anchor > work.now
  if (!shortened)
    return draftSubscriptionInvoice(work, subscription, {
      reason: 'subscription_create',
      items,
      pending: 'all',
    })
  if (params.proration_behavior === 'none' && !params.add_invoice_items) return null
  // Until the anchor only the share of a whole period is owed.
  for (const item of params.proration_behavior === 'none' ? [] : items) {
    const price = work.require('price', item.price)
    const whole =
      price.recurring && periodAt(subscription.billing_cycle_anchor, price.recurring, work.now)
    const start = item.current_period_start
    if (whole) item.current_period_start = whole.start
    debitRemaining(work, subscription, item, work.now)
    item.current_period_start = start
  }
  const invoice = draftSubscriptionInvoice(work, subscription, {
    reason: 'subscription_create',
    items: [],
    pending: 'all',
  })
  refreshTotals(work, invoice)
  return invoice
}

/** Pays the first invoice as payment_behavior says. */
function payFirst(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  invoice: InvoiceRow,
  params: Stripe.SubscriptionCreateParams,
): void {
  const behavior = params.payment_behavior ?? 'allow_incomplete'
  subscription.status = 'incomplete'
  subscription.$.incompleteUntil = work.now + 23 * 3600
  if (behavior === 'default_incomplete') return
  if (methodFor(work, invoice) === null) throw noMethod()
  const outcome = collectInvoice(work, invoice, { offSession: params.off_session ?? false })
  if (outcome.status === 'succeeded' || behavior !== 'error_if_incomplete') return
  if (outcome.status === 'declined') throw cardFault(outcome.decline, {})
  throw new StripeFault(402, {
    type: 'card_error',
    ...withDocs('subscription_payment_intent_requires_action'),
    message:
      'Payment for this subscription requires additional user action before it can be completed successfully. Payment can be completed using the PaymentIntent associated with `subscription.latest_invoice`.',
  })
}

/** A free start still wants a usable card: a setup intent asks for it. */
function askForMethod(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  params: Stripe.SubscriptionCreateParams,
): void {
  const invoice = work.require('invoice', subscription.latest_invoice ?? '')
  const method = work.find('payment_method', methodFor(work, invoice) ?? '')
  const wanted = method ? needsSetup(method) : params.payment_behavior === 'default_incomplete'
  if (!wanted) return
  const intent = newSetupIntent(work, {
    customer: subscription.customer,
    usage: 'off_session',
    subscription: subscription.id,
  })
  if (method) {
    intent.payment_method = method.id
    intent.status = 'requires_action'
    intent.next_action = {
      type: 'use_stripe_sdk',
      use_stripe_sdk: {
        type: 'three_d_secure_redirect',
        stripe_js: `${work.context.baseUrl}/pages/authenticate/${intent.id}?client_secret=${intent.client_secret}`,
      } as never,
    }
  }
  work.edit('subscription', subscription).pending_setup_intent = intent.id
}

export function noMethod(): StripeFault {
  return invalidRequest(
    'This customer has no attached payment source or default payment method. Please consider adding a default payment method. For more information, visit https://stripe.com/docs/billing/subscriptions/payment-methods-setting#payment-method-priority.',
    undefined,
    'resource_missing',
  )
}

function checkCurrency(
  customer: CustomerRow,
  prices: readonly PriceRow[],
  wanted: string | undefined,
): string {
  const currency = wanted?.toLowerCase() ?? prices[0]?.currency ?? 'usd'
  for (const price of prices) {
    if (price.currency === currency) continue
    throw invalidRequest(
      `The price specified only supports \`${price.currency}\`. This doesn't match the expected currency: \`${currency}\`.`,
      'items',
    )
  }
  if (customer.currency && customer.currency !== currency && customer.balance !== 0) {
    throw invalidRequest(
      `You cannot combine currencies on a single customer. This customer has a balance in \`${customer.currency}\`.`,
      'customer',
    )
  }
  return currency
}

function checkMixedIntervals(subscription: SubscriptionRow, prices: readonly PriceRow[]): void {
  if (subscription.billing_mode.type === 'flexible') return
  const first = prices[0]?.recurring ?? null
  if (prices.every((price) => sameRecurrence(price.recurring, first))) return
  throw invalidRequest(
    'Currently, all prices on a subscription must use the same `recurring.interval` and `recurring.interval_count`.',
    'items',
  )
}

function readTrialEnd(
  work: UnitOfWork,
  params: Stripe.SubscriptionCreateParams,
  prices: readonly PriceRow[],
): number | null {
  const { trial_end: end, trial_period_days: days, trial_from_plan: fromPlan } = params
  if (end !== undefined && (days !== undefined || fromPlan)) {
    throw invalidRequest(
      `You may only specify one of these parameters: trial_end, ${fromPlan ? 'trial_from_plan' : 'trial_period_days'}.`,
    )
  }
  if (end === 'now') return null
  if (end !== undefined) return checkTrialEnd(work, end)
  if (days !== undefined) {
    if (days < 0)
      throw invalidRequest(
        'Invalid non-negative integer',
        'trial_period_days',
        'parameter_invalid_integer',
      )
    if (days > 730)
      throw invalidRequest(
        'The maximum number of trial period days is 730 (2 years).',
        'trial_period_days',
      )
    return days === 0 ? null : work.now + days * DAY
  }
  const planDays = fromPlan
    ? Math.max(0, ...prices.map((price) => price.recurring?.trial_period_days ?? 0))
    : 0
  return planDays > 0 ? work.now + planDays * DAY : null
}

export function checkTrialEnd(work: UnitOfWork, end: number): number {
  if (end <= work.now)
    throw invalidRequest(
      'Invalid timestamp: must be an integer Unix timestamp in the future.',
      'trial_end',
    )
  if (end > work.now + TWO_YEARS) {
    throw invalidRequest(
      'Invalid timestamp: can be no more than two years in the future.',
      'trial_end',
    )
  }
  return end
}

function readAnchor(
  work: UnitOfWork,
  params: Stripe.SubscriptionCreateParams,
  trialEnd: number | null,
): number {
  const anchor = params.billing_cycle_anchor
  if (anchor === undefined) return trialEnd ?? work.now
  if (anchor <= work.now) {
    throw invalidRequest('billing_cycle_anchor must be in the future.', 'billing_cycle_anchor')
  }
  return anchor
}

function readBillingMode(params: Stripe.SubscriptionCreateParams): SubscriptionRow['billing_mode'] {
  if (params.billing_mode?.type === 'classic') return { flexible: null, type: 'classic' }
  return {
    flexible: {
      proration_discounts: params.billing_mode?.flexible?.proration_discounts ?? 'included',
    },
    type: 'flexible',
  }
}

export function renderSubscription(work: UnitOfWork, subscription: SubscriptionRow) {
  return render('subscription', subscription, work.tables)
}
