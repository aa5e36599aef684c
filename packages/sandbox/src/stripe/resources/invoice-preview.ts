import type Stripe from 'stripe'
import { copyJson } from '../../core/store/copy-json.ts'
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
import { draftSubscription } from '../subscriptions/subscription-create.ts'
import { draftSubscriptionInvoice } from '../subscriptions/subscription-invoice.ts'
import { itemsOf } from '../subscriptions/subscription-swap.ts'
import { applyUpdate } from '../subscriptions/subscription-update.ts'
import { asUpcoming, nextInvoice } from '../subscriptions/upcoming-invoice.ts'
import { usagePeriods } from '../subscriptions/usage.ts'
import { invalidRequest, missingParam } from '../wire/errors.ts'
import { createCustomer } from './customers.ts'

type Params = Stripe.InvoiceCreatePreviewParams

export const invoicePreview: Operations = {
  /** Does the real thing in a step of its own, shows the invoice, and puts everything back. */
  'Invoices.createPreview': op<Params>((params, { work }) => {
    const trial = new UnitOfWork(work.context)
    try {
      const invoice = preview(trial, params)
      const shown = copyJson(render('invoice', invoice, trial.tables))
      return asUpcoming(shown)
    } finally {
      trial.rollback()
    }
  }),
}

function preview(work: UnitOfWork, params: Params): InvoiceRow {
  if (params.schedule !== undefined || params.schedule_details !== undefined) {
    throw invalidRequest('The sandbox previews subscriptions, not schedules.', 'schedule')
  }
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
  if (params.discounts !== undefined) {
    invoice.discounts = redeemDiscounts(work, params.discounts, {
      customer,
      invoice: invoice.id,
      currency: invoice.currency,
    })
  }
  const automatic = wantsAutomaticTax(params)
  if (automatic !== undefined) invoice.automatic_tax = automatic ? AUTOMATIC_TAX : NO_AUTOMATIC_TAX
  refreshTotals(work, invoice)
  return invoice
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
  const subscription = draftSubscription(work, {
    customer: customer.id,
    items: details.items as never,
    ...(details.trial_end === undefined ? {} : { trial_end: details.trial_end }),
    ...(details.default_tax_rates === undefined
      ? {}
      : { default_tax_rates: details.default_tax_rates }),
    ...(details.metadata === undefined ? {} : { metadata: details.metadata }),
    ...(params.automatic_tax === undefined ? {} : { automatic_tax: params.automatic_tax }),
  } as Stripe.SubscriptionCreateParams)
  return draftSubscriptionInvoice(work, subscription, {
    reason: 'subscription_create',
    items: itemsOf(work, subscription),
    pending: 'all',
  })
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
  const update = details ? applyUpdate(work, subscription, toUpdate(details)) : null
  if (update?.invoice) return update.invoice
  if (details === undefined) addInvoiceItems(work, subscription, undefined)
  if (subscription.cancel_at_period_end || subscription.status === 'paused')
    throw noUpcoming(subscription)
  return nextInvoice(work, subscription)
}

function toUpdate(
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
