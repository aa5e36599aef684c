import type Stripe from 'stripe'
import { copyJson } from '../../core/store/copy-json.ts'
import { expand } from '../api/expand.ts'
import { listPage } from '../api/lists.ts'
import { type Operations, op } from '../api/operation.ts'
import { redeemDiscounts } from '../catalog/redeem-discounts.ts'
import { AUTOMATIC_TAX, NO_AUTOMATIC_TAX, wantsAutomaticTax } from '../invoices/automatic-tax.ts'
import { createInvoice, refreshTotals, takeInvoiceItem } from '../invoices/invoice-draft.ts'
import { addInvoiceItems, newInvoiceItem, requireOneTimePrice } from '../invoices/invoice-items.ts'
import { requireCustomer } from '../payments/customer.ts'
import { render } from '../state/render.ts'
import type { CustomerRow, InvoiceRow, SubscriptionRow } from '../state/rows.ts'
import { isOver } from '../state/subscription-status.ts'
import { UnitOfWork } from '../state/unit-of-work.ts'
import { creditUnused } from '../subscriptions/proration.ts'
import { draftSubscription, firstInvoice } from '../subscriptions/subscription-create.ts'
import { draftSubscriptionInvoice } from '../subscriptions/subscription-invoice.ts'
import { itemsOf } from '../subscriptions/subscription-swap.ts'
import { applyUpdate } from '../subscriptions/subscription-update.ts'
import { asUpcoming, nextInvoice, upcomingInvoice } from '../subscriptions/upcoming-invoice.ts'
import { usagePeriods } from '../subscriptions/usage.ts'
import { invalidRequest, missingParam } from '../wire/errors.ts'
import { minimumCharge } from '../wire/money.ts'
import type { WireObject } from '../wire/wire-object.ts'
import { createCustomer } from './customers.ts'

type Params = Stripe.InvoiceCreatePreviewParams

const OF_DISCOUNTS: readonly string[] = ['discounts', 'total_discount_amounts.discount']

export const invoicePreview: Operations = {
  /** Does the real thing in a step of its own, shows the invoice, and puts everything back. */
  'Invoices.createPreview': op<Params>((params, { work }) =>
    tryOut(work, (trial) => {
      const shown = copyJson(render('invoice', preview(trial, params), trial.tables))
      // Discounts that are only tried out are gone when all others are expanded.
      const wanted = OF_DISCOUNTS.filter((path) =>
        params.expand?.some((each) => each === path || each.startsWith(`${path}.`)),
      )
      expand(shown, wanted, { tables: trial.tables, shape: null })
      return asUpcoming(shown)
    }),
  ),
  /** All lines of one, for versions that can ask for them. */
  'Invoices.listUpcomingLines': op<Params & Pages>((params, { work, path }) => {
    const { limit, starting_after, ending_before, ...rest } = params
    const lines = tryOut(work, (trial) => {
      const invoice = preview(trial, rest)
      const rows = trial.findBy('line_item', 'invoice', invoice.id)
      const shown = copyJson(render('invoice', invoice, trial.tables))
      const data = rows.sort((a, b) => a.$.order - b.$.order)
      const all = copyJson(data.map((row) => render('line_item', row, trial.tables)))
      return asUpcoming({ ...shown, lines: { data: all } }).lines as { data: WireObject[] }
    })
    const pages = { limit, starting_after, ending_before }
    return listPage(lines.data, pages, path, (line) => line)
  }),
}

type Pages = Parameters<typeof listPage>[1]

function tryOut<T>(work: UnitOfWork, run: (trial: UnitOfWork) => T): T {
  const trial = new UnitOfWork(work.context, { testClock: work.testClock })
  try {
    return run(trial)
  } finally {
    trial.rollback()
  }
}

/** A schedule that has begun is seen by its subscription, whose next invoice knows what is planned. */
function withoutSchedule(work: UnitOfWork, { schedule: id, ...params }: Params): Params {
  if (params.schedule_details !== undefined) {
    throw invalidRequest('The sandbox previews schedules as they are.', 'schedule_details')
  }
  if (id === undefined) return params
  if (params.subscription !== undefined || params.subscription_details !== undefined) {
    throw invalidRequest('You may only specify one of these parameters: schedule, subscription.')
  }
  const { subscription } = work.require('subscription_schedule', id, 'schedule')
  if (subscription === null) {
    throw invalidRequest(
      'The sandbox previews schedules that have hold of a subscription.',
      'schedule',
    )
  }
  return { ...params, subscription }
}

function preview(work: UnitOfWork, given: Params): InvoiceRow {
  const params = withoutSchedule(work, given)
  const invoice =
    params.subscription === undefined ? previewNew(work, params) : previewExisting(work, params)
  work.edit('invoice', invoice)
  const customer = work.require('customer', invoice.customer ?? '')
  ;(params.invoice_items ?? []).forEach((item, at) => {
    const path = `invoice_items[${at}]`
    const row = newInvoiceItem(work, {
      customer,
      amount: item.amount,
      currency: item.currency ?? invoice.currency,
      price:
        item.price !== undefined || item.price_data !== undefined
          ? requireOneTimePrice(work, item as never, path)
          : null,
      unitAmountDecimal:
        item.unit_amount_decimal === undefined ? undefined : String(item.unit_amount_decimal),
      quantity: item.quantity,
      description: item.description ?? null,
      discountable: item.discountable,
      metadata: item.metadata,
      taxRates: item.tax_rates || null,
    })
    takeInvoiceItem(work, invoice, row)
  })
  if (params.discounts !== undefined && !isOfNew(params)) {
    invoice.discounts = redeemDiscounts(work, params.discounts, {
      customer,
      invoice: invoice.id,
      currency: invoice.currency,
    })
  }
  const automatic = wantsAutomaticTax(params)
  if (automatic !== undefined) invoice.automatic_tax = automatic ? AUTOMATIC_TAX : NO_AUTOMATIC_TAX
  refreshTotals(work, invoice)
  carryOver(invoice)
  return invoice
}

/** What is too small to charge is left for a later invoice, as it is when the invoice is finalized. */
function carryOver(invoice: InvoiceRow): void {
  const due = invoice.total + invoice.starting_balance
  if (due <= 0 || due >= minimumCharge(invoice.currency)) return
  invoice.amount_due = 0
  invoice.amount_remaining = 0
}

function previewNew(work: UnitOfWork, params: Params): InvoiceRow {
  const customer = previewedCustomer(work, params)
  const details = params.subscription_details
  if (!details?.items) {
    if (!params.invoice_items) {
      throw invalidRequest(
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
  return firstInvoice(work, subscription, terms) ?? nextInvoice(work, subscription)
}

/** A subscription to be, whose discounts are its own. */
function isOfNew({ subscription, subscription_details: details }: Params): boolean {
  return subscription === undefined && details?.items !== undefined
}

function toNew(
  params: Params,
  details: NonNullable<Params['subscription_details']>,
  customer: CustomerRow,
): Stripe.SubscriptionCreateParams {
  const { billing_cycle_anchor: anchor, start_date: began } = details
  const terms = {
    customer: customer.id,
    currency: params.currency,
    items: details.items,
    trial_end: details.trial_end,
    billing_cycle_anchor: anchor?.timestamp,
    backdate_start_date: began,
    billing_mode: details.billing_mode,
    cancel_at: details.cancel_at,
    cancel_at_period_end: details.cancel_at_period_end,
    default_tax_rates: details.default_tax_rates,
    metadata: details.metadata,
    proration_behavior: details.proration_behavior,
    automatic_tax: params.automatic_tax,
    discounts: params.discounts,
  }
  return Object.fromEntries(
    Object.entries(terms).filter(([, value]) => value !== undefined),
  ) as unknown as Stripe.SubscriptionCreateParams
}

/** Somebody who is not a customer yet may be described instead of named. */
function previewedCustomer(work: UnitOfWork, params: Params): CustomerRow {
  const { address, shipping, tax, tax_exempt, tax_ids } = params.customer_details ?? {}
  if (params.customer === undefined && params.customer_details === undefined) {
    throw missingParam('customer')
  }
  if (params.customer !== undefined) return requireCustomer(work, params.customer, 'customer')
  return createCustomer(work, {
    ...(address === undefined ? {} : { address }),
    ...(shipping === undefined ? {} : { shipping }),
    ...(tax === undefined ? {} : { tax }),
    ...(tax_exempt === undefined ? {} : { tax_exempt }),
    ...(tax_ids === undefined ? {} : { tax_id_data: tax_ids }),
  } as Stripe.CustomerCreateParams)
}

function previewExisting(work: UnitOfWork, params: Params): InvoiceRow {
  const subscription = work.require('subscription', params.subscription ?? '', 'subscription')
  if (params.customer !== undefined && params.customer !== subscription.customer) {
    throw invalidRequest(
      `The subscription ${subscription.id} does not belong to the customer ${params.customer}.`,
      'subscription',
    )
  }
  const details = params.subscription_details
  if (isOver(subscription)) throw noUpcoming(subscription)
  if (details?.cancel_now) {
    if (details.proration_behavior !== 'none') {
      for (const item of itemsOf(work, subscription))
        creditUnused(work, subscription, item, details.proration_date ?? work.now)
    }
    return draftSubscriptionInvoice(work, subscription, {
      reason: 'subscription_update',
      items: [],
      pending: 'subscription',
      usage: usagePeriods(work, itemsOf(work, subscription), work.now),
    })
  }
  const update = details ? applyUpdate(work, subscription, toUpdate(params, details)) : null
  if (update?.invoice) return update.invoice
  if (details === undefined) addInvoiceItems(work, subscription, undefined)
  // Whoever asks for other prices is told what those cost.
  const how = { asPlanned: details?.items === undefined }
  const next = subscription.status === 'paused' ? null : upcomingInvoice(work, subscription, how)
  if (!next) throw noUpcoming(subscription)
  return next
}

function toUpdate(
  { automatic_tax }: Params,
  details: NonNullable<Params['subscription_details']>,
): Stripe.SubscriptionUpdateParams {
  const {
    items,
    proration_behavior,
    proration_date,
    trial_end,
    billing_cycle_anchor,
    cancel_at,
    cancel_at_period_end,
    default_tax_rates,
  } = details
  const update = {
    items,
    proration_behavior,
    proration_date,
    trial_end,
    cancel_at,
    cancel_at_period_end,
    automatic_tax,
    default_tax_rates,
    billing_cycle_anchor: toAnchor(billing_cycle_anchor),
  }
  return Object.fromEntries(
    Object.entries(update).filter(([, value]) => value !== undefined),
  ) as Stripe.SubscriptionUpdateParams
}

function toAnchor(anchor: unknown): unknown {
  return anchor === 'now' || anchor === 'unchanged' ? { type: anchor } : anchor
}

function noUpcoming(subscription: SubscriptionRow) {
  return invalidRequest(
    `No upcoming invoices for subscription: ${subscription.id}`,
    'subscription',
    'invoice_upcoming_none',
  )
}
