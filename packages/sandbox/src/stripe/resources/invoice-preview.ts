import type Stripe from 'stripe'
import { copyJson } from '../../core/store/copy-json.ts'
import { expandObjects } from '../api/expand.ts'
import { listPage } from '../api/lists.ts'
import type { StripeOperations } from '../api/operation.ts'
import { redeemDiscounts } from '../catalog/redeem-discounts.ts'
import { applyAutomaticTax } from '../invoices/automatic-tax.ts'
import { createInvoice, moveItemToInvoice, refreshTotals } from '../invoices/invoice-draft.ts'
import {
  addInvoiceItems,
  createInvoiceItem,
  requireOneTimePrice,
} from '../invoices/invoice-items.ts'
import { requireCustomer } from '../payments/customer.ts'
import { renderRow } from '../state/render.ts'
import type { CustomerRow, InvoiceRow, SubscriptionRow } from '../state/rows.ts'
import { hasEnded } from '../state/subscription-status.ts'
import { dryRun, type UnitOfWork } from '../state/unit-of-work.ts'
import { creditUnusedTime } from '../subscriptions/proration.ts'
import { createFirstInvoice, draftSubscription } from '../subscriptions/subscription-create.ts'
import { draftSubscriptionInvoice } from '../subscriptions/subscription-invoice.ts'
import { listSubscriptionItems } from '../subscriptions/subscription-swap.ts'
import { applyUpdate } from '../subscriptions/subscription-update.ts'
import {
  draftNextInvoice,
  draftUpcomingInvoice,
  toPreview,
} from '../subscriptions/upcoming-invoice.ts'
import { listUsagePeriods } from '../subscriptions/usage.ts'
import { createInvalidRequestFault, createMutuallyExclusiveFault } from '../wire/errors.ts'
import { pickSentFields } from '../wire/fields.ts'
import { getMinimumCharge } from '../wire/money.ts'
import type { WireObject } from '../wire/wire-object.ts'
import { createCustomer } from './customers.ts'

type Params = Stripe.InvoiceCreatePreviewParams

const DISCOUNT_PATHS: readonly string[] = ['discounts', 'total_discount_amounts.discount']

export const invoicePreviewOperations: StripeOperations = {
  /** Previews an invoice: creates it, renders it and rolls everything back. */
  'Invoices.createPreview': (params, { work }) =>
    dryRun(work.context, { testClock: work.testClock }, (trial) => {
      const shown = copyJson(renderRow('invoice', preview(trial, params), trial.tables))
      // Expanded here, because discounts created for the preview no longer exist when the response
      // is expanded.
      const wanted = DISCOUNT_PATHS.filter((path) =>
        params.expand?.some((each) => each === path || each.startsWith(`${path}.`)),
      )
      expandObjects(shown, wanted, { tables: trial.tables, shape: null })
      return toPreview(shown)
    }),
  /** Lists all lines of an upcoming invoice, for API versions before basil. */
  'Invoices.listUpcomingLines': (params, { work, path }) => {
    const { limit, starting_after, ending_before, ...rest } = params
    const lines = dryRun(work.context, { testClock: work.testClock }, (trial) => {
      const invoice = preview(trial, rest)
      const rows = trial.findBy('line_item', 'invoice', invoice.id)
      const shown = copyJson(renderRow('invoice', invoice, trial.tables))
      const data = rows.sort((a, b) => a.$.order - b.$.order)
      const all = copyJson(data.map((row) => renderRow('line_item', row, trial.tables)))
      return toPreview({ ...shown, lines: { data: all } }).lines as { data: WireObject[] }
    })
    const pages = { limit, starting_after, ending_before }
    return listPage(lines.data, pages, path, (line) => line)
  },
}

/** Replaces a schedule by its subscription, whose next invoice includes the planned changes. */
function replaceSchedule(work: UnitOfWork, { schedule: id, ...params }: Params): Params {
  if (params.schedule_details !== undefined) {
    throw createInvalidRequestFault(
      'The sandbox cannot preview changes to a schedule.',
      'schedule_details',
    )
  }
  if (id === undefined) return params
  if (params.subscription !== undefined || params.subscription_details !== undefined) {
    throw createMutuallyExclusiveFault('schedule, subscription')
  }
  const { subscription } = work.require('subscription_schedule', id, 'schedule')
  if (subscription === null) {
    throw createInvalidRequestFault(
      'The sandbox previews only schedules that have a subscription.',
      'schedule',
    )
  }
  return { ...params, subscription }
}

function preview(work: UnitOfWork, previewParams: Params): InvoiceRow {
  const params = replaceSchedule(work, previewParams)
  const invoice =
    params.subscription === undefined ? previewNew(work, params) : previewExisting(work, params)
  work.edit('invoice', invoice)
  const customer = work.require('customer', invoice.customer ?? '')
  ;(params.invoice_items ?? []).forEach((item, at) => {
    const path = `invoice_items[${at}]`
    const row = createInvoiceItem(work, {
      customer,
      amount: item.amount,
      currency: item.currency ?? invoice.currency,
      price:
        item.price !== undefined || item.price_data !== undefined
          ? requireOneTimePrice(work, item as never, path)
          : null,
      unitAmountDecimal: item.unit_amount_decimal,
      quantity: item.quantity,
      description: item.description ?? null,
      discountable: item.discountable,
      metadata: item.metadata,
      taxRates: item.tax_rates || null,
    })
    moveItemToInvoice(work, invoice, row)
  })
  if (params.discounts !== undefined && !isNewSubscription(params)) {
    invoice.discounts = redeemDiscounts(work, params.discounts, {
      customer,
      invoice: invoice.id,
      currency: invoice.currency,
    })
  }
  applyAutomaticTax(invoice, params)
  refreshTotals(work, invoice)
  carryOverSmallAmount(invoice)
  return invoice
}

/**
 * Sets the amount due to zero if it is below the minimum charge, as finalizing the invoice would.
 */
function carryOverSmallAmount(invoice: InvoiceRow): void {
  const due = invoice.total + invoice.starting_balance
  if (due <= 0 || due >= getMinimumCharge(invoice.currency)) return
  invoice.amount_due = 0
  invoice.amount_remaining = 0
}

function previewNew(work: UnitOfWork, params: Params): InvoiceRow {
  const customer = resolvePreviewCustomer(work, params)
  const details = params.subscription_details
  if (!details?.items) {
    if (!params.invoice_items) {
      throw createInvalidRequestFault(
        `No upcoming invoices for customer: ${customer.id}`,
        'customer',
        'invoice_upcoming_none',
      )
    }
    return createInvoice(work, {
      customer,
      currency: params.currency ?? customer.currency ?? 'usd',
      billingReason: 'upcoming',
      autoAdvance: false,
    })
  }
  const terms = toNew(params, details, customer)
  const subscription = draftSubscription(work, terms)
  return createFirstInvoice(work, subscription, terms) ?? draftNextInvoice(work, subscription)
}

/**
 * Whether the preview is for a new subscription. Its discounts belong to the subscription, not to
 * the invoice.
 */
function isNewSubscription({ subscription, subscription_details: details }: Params): boolean {
  return subscription === undefined && details?.items !== undefined
}

function toNew(
  params: Params,
  details: NonNullable<Params['subscription_details']>,
  customer: CustomerRow,
): Stripe.SubscriptionCreateParams {
  const { billing_cycle_anchor: anchor, start_date: backdate_start_date } = details
  return {
    customer: customer.id,
    ...pickSentFields(params, 'currency', 'automatic_tax', 'discounts'),
    ...pickSentFields(
      details,
      'items',
      'trial_end',
      'billing_mode',
      'cancel_at',
      'cancel_at_period_end',
    ),
    ...pickSentFields(details, 'default_tax_rates', 'metadata', 'proration_behavior'),
    ...(anchor === undefined ? {} : { billing_cycle_anchor: anchor.timestamp }),
    ...(backdate_start_date === undefined ? {} : { backdate_start_date }),
  } as unknown as Stripe.SubscriptionCreateParams
}

/** Returns the customer, or creates a temporary one from `customer_details`. */
function resolvePreviewCustomer(work: UnitOfWork, params: Params): CustomerRow {
  if (params.customer !== undefined || params.customer_details === undefined) {
    return requireCustomer(work, params.customer, 'customer')
  }
  const { tax_ids: tax_id_data, ...details } = params.customer_details
  return createCustomer(work, {
    ...details,
    ...(tax_id_data === undefined ? {} : { tax_id_data }),
  } as Stripe.CustomerCreateParams)
}

function previewExisting(work: UnitOfWork, params: Params): InvoiceRow {
  const subscription = work.require('subscription', params.subscription ?? '', 'subscription')
  if (params.customer !== undefined && params.customer !== subscription.customer) {
    throw createInvalidRequestFault(
      `The subscription ${subscription.id} does not belong to the customer ${params.customer}.`,
      'subscription',
    )
  }
  const details = params.subscription_details
  if (hasEnded(subscription)) throw createNoUpcomingFault(subscription)
  if (details?.cancel_now) {
    if (details.proration_behavior !== 'none') {
      for (const item of listSubscriptionItems(work, subscription))
        creditUnusedTime(work, subscription, item, details.proration_date ?? work.now)
    }
    return draftSubscriptionInvoice(work, subscription, {
      reason: 'subscription_update',
      items: [],
      pending: 'subscription',
      usage: listUsagePeriods(work, listSubscriptionItems(work, subscription), work.now),
    })
  }
  const update = details ? applyUpdate(work, subscription, toUpdate(params, details)) : null
  if (update?.invoice) return update.invoice
  if (details === undefined) addInvoiceItems(work, subscription, undefined)
  // A call that changes the items wants their cost, not that of the schedule's next phase.
  const how = { asPlanned: details?.items === undefined }
  const next =
    subscription.status === 'paused' ? null : draftUpcomingInvoice(work, subscription, how)
  if (!next) throw createNoUpcomingFault(subscription)
  return next
}

function toUpdate(
  { automatic_tax }: Params,
  details: NonNullable<Params['subscription_details']>,
): Stripe.SubscriptionUpdateParams {
  const { billing_cycle_anchor: anchor } = details
  return {
    ...pickSentFields(
      details,
      'items',
      'proration_behavior',
      'proration_date',
      'trial_end',
      'cancel_at',
    ),
    ...pickSentFields(details, 'cancel_at_period_end', 'default_tax_rates'),
    ...(automatic_tax === undefined ? {} : { automatic_tax }),
    ...(anchor === undefined ? {} : { billing_cycle_anchor: toAnchor(anchor) }),
  } as unknown as Stripe.SubscriptionUpdateParams
}

function toAnchor(anchor: unknown): unknown {
  return anchor === 'now' || anchor === 'unchanged' ? { type: anchor } : anchor
}

function createNoUpcomingFault(subscription: SubscriptionRow) {
  return createInvalidRequestFault(
    `No upcoming invoices for subscription: ${subscription.id}`,
    'subscription',
    'invoice_upcoming_none',
  )
}
