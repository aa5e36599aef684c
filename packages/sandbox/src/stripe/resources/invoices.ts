import type Stripe from 'stripe'
import { createdIn, filterRows, inRange, listPage, type Range } from '../api/lists.ts'
import { type Call, idOf, type Operations, op } from '../api/operation.ts'
import { searchPage } from '../api/search.ts'
import { redeemDiscounts } from '../catalog/redeem-discounts.ts'
import { requireTaxRates } from '../catalog/tax-rates.ts'
import {
  AUTOMATIC_TAX,
  NO_AUTOMATIC_TAX,
  refuseManualRates,
  wantsAutomaticTax,
} from '../invoices/automatic-tax.ts'
import {
  createInvoice,
  pendingItems,
  refreshTotals,
  takeInvoiceItem,
} from '../invoices/invoice-draft.ts'
import {
  collectInvoice,
  finalizeInvoice,
  markPaid,
  markUncollectible,
  voidInvoice,
} from '../invoices/invoice-payment.ts'
import { requireCustomer, requireOwnMethod } from '../payments/customer.ts'
import { usePaymentMethod } from '../payments/new-payment-method.ts'
import { cardFault } from '../payments/payment-attempt.ts'
import { render } from '../state/render.ts'
import type { InvoiceRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { invalidRequest, missingParam, noSuch, StripeFault, withDocs } from '../wire/errors.ts'
import { mergeMetadata } from '../wire/metadata.ts'
import { requireCurrency } from '../wire/money.ts'

const HOUR = 3600

export const invoices: Operations = {
  'Invoices.create': op<Stripe.InvoiceCreateParams>((params, { work }) => {
    if (params.customer === undefined) throw missingParam('customer')
    const customer = requireCustomer(work, params.customer, 'customer')
    const subscription =
      params.subscription === undefined
        ? null
        : work.require('subscription', params.subscription, 'subscription')
    if (subscription && subscription.customer !== customer.id)
      throw noSuch('subscription', subscription.id, 'subscription')
    const currency =
      params.currency === undefined
        ? (subscription?.currency ?? customer.currency ?? 'usd')
        : requireCurrency(params.currency)
    const invoice = createInvoice(work, {
      customer,
      currency,
      subscription,
      billingReason: 'manual',
      autoAdvance: params.auto_advance ?? false,
      automaticTax: wantsAutomaticTax(params),
    })
    applyParams(work, invoice, params)
    // Only with `include` is everything that waits swept up.
    if (params.pending_invoice_items_behavior === 'include') {
      for (const item of pendingItems(work, customer.id, currency, subscription?.id ?? null)) {
        takeInvoiceItem(work, invoice, item)
      }
    }
    if (invoice.auto_advance) planFinalization(work, invoice)
    refreshTotals(work, invoice)
    work.emit('invoice.created', 'invoice', invoice)
    return render('invoice', invoice, work.tables)
  }),

  'Invoices.retrieve': op((_params, call) => shown(call, call.work.require('invoice', idOf(call)))),

  'Invoices.update': op<Stripe.InvoiceUpdateParams>((params, call) => {
    const { work } = call
    const invoice = work.edit('invoice', work.require('invoice', idOf(call)))
    const draftOnly = Object.keys(params).filter(
      (key) => !['metadata', 'expand', 'auto_advance', 'default_payment_method'].includes(key),
    )
    if (invoice.status !== 'draft' && draftOnly.length > 0) {
      throw invalidRequest(
        "Finalized invoices can't be updated in this way",
        draftOnly[0],
        'invoice_not_editable',
      )
    }
    applyParams(work, invoice, params)
    if (params.auto_advance !== undefined) {
      invoice.auto_advance = params.auto_advance
      if (invoice.status === 'draft') {
        if (params.auto_advance) planFinalization(work, invoice)
        else {
          invoice.automatically_finalizes_at = null
          invoice.next_payment_attempt = null
          invoice.$.nextAt = null
        }
      } else if (!params.auto_advance) {
        invoice.next_payment_attempt = null
        invoice.$.nextAt = null
      }
    }
    if (invoice.status === 'draft') refreshTotals(work, invoice)
    return shown(call, invoice)
  }),

  'Invoices.del': op((_params, call) => {
    const { work } = call
    const invoice = work.require('invoice', idOf(call))
    if (invoice.status !== 'draft') {
      throw invalidRequest('You can only delete draft invoices.', undefined, 'invoice_not_editable')
    }
    if (invoice.$.subscription) {
      throw invalidRequest('You cannot delete an invoice that was created by a subscription.')
    }
    work.emit('invoice.deleted', 'invoice', invoice)
    for (const item of work.findBy('invoiceitem', 'invoice', invoice.id)) {
      work.emit('invoiceitem.deleted', 'invoiceitem', item)
      work.remove('invoiceitem', item)
    }
    for (const line of work.findBy('line_item', 'invoice', invoice.id))
      work.remove('line_item', line)
    work.remove('invoice', invoice)
    return { id: invoice.id, object: 'invoice', deleted: true }
  }),

  'Invoices.list': op<Stripe.InvoiceListParams>((params, { work, path }) => {
    const { invoice: table } = work.tables
    const rows = params.subscription
      ? table.newestBy('subscription', params.subscription)
      : params.customer
        ? table.newestBy('customer', params.customer)
        : params.status
          ? table.newestBy('status', params.status)
          : table.newestFirst()
    const wanted = filterRows(
      createdIn(rows, params.created as Range | undefined),
      (row) =>
        (params.customer === undefined || row.customer === params.customer) &&
        (params.status === undefined || row.status === params.status) &&
        (params.collection_method === undefined ||
          row.collection_method === params.collection_method) &&
        (params.due_date === undefined || inRange(row.due_date ?? 0, params.due_date as Range)),
    )
    return listPage(wanted, params, path, (row) => render('invoice', row, work.tables))
  }),

  'Invoices.search': op<Stripe.InvoiceSearchParams>((params, { work, path }) =>
    searchPage(work.tables.invoice, params, path, {
      toWire: (row) => render('invoice', row, work.tables),
    }),
  ),

  'Invoices.finalizeInvoice': op<Stripe.InvoiceFinalizeInvoiceParams>((params, call) => {
    const { work } = call
    const invoice = work.edit('invoice', work.require('invoice', idOf(call)))
    if (invoice.status !== 'draft') {
      throw invalidRequest(
        "This invoice is already finalized, you can't re-finalize a non-draft invoice.",
        undefined,
        'invoice_not_editable',
      )
    }
    if (params.auto_advance !== undefined) invoice.auto_advance = params.auto_advance
    finalizeInvoice(work, invoice)
    if (
      invoice.status === ('open' as string) &&
      invoice.auto_advance &&
      invoice.collection_method === 'charge_automatically'
    ) {
      invoice.next_payment_attempt = work.now + HOUR
      invoice.$.nextAt = work.now + HOUR
    }
    return shown(call, invoice)
  }),

  'Invoices.pay': op<Stripe.InvoicePayParams>((params, call) => {
    const invoice = call.work.require('invoice', idOf(call))
    payInvoice(call.work, invoice, params)
    return shown(call, invoice)
  }),

  'Invoices.voidInvoice': op((_params, call) => {
    const invoice = call.work.require('invoice', idOf(call))
    voidInvoice(call.work, invoice)
    return shown(call, invoice)
  }),

  'Invoices.markUncollectible': op((_params, call) => {
    const invoice = call.work.require('invoice', idOf(call))
    if (invoice.status !== 'open') {
      throw invalidRequest(
        `You can only mark open invoices as uncollectible. This invoice's status is ${invoice.status}.`,
        undefined,
        'invoice_not_editable',
      )
    }
    markUncollectible(call.work, invoice)
    return shown(call, invoice)
  }),

  'Invoices.sendInvoice': op((_params, call) => {
    const { work } = call
    const invoice = work.edit('invoice', work.require('invoice', idOf(call)))
    if (invoice.collection_method !== 'send_invoice') {
      throw invalidRequest(
        "You can only manually send an invoice if its collection method is 'send_invoice'.",
      )
    }
    if (invoice.status === 'draft') finalizeInvoice(work, invoice)
    if (invoice.due_date) invoice.$.nextAt = invoice.due_date
    work.emit('invoice.sent', 'invoice', invoice)
    return shown(call, invoice)
  }),

  'Invoices.listLineItems': op<Stripe.InvoiceListLineItemsParams>((params, { work, ids, path }) => {
    const invoice = work.require('invoice', ids[0] ?? '')
    const lines = work.findBy('line_item', 'invoice', invoice.id)
    return listPage(lines, params, path, (row) => render('line_item', row, work.tables))
  }),
}

function shown(call: Call, invoice: InvoiceRow) {
  return render('invoice', invoice, call.work.tables)
}

function planFinalization(work: UnitOfWork, invoice: InvoiceRow): void {
  const at = work.now + HOUR
  invoice.automatically_finalizes_at = at
  invoice.next_payment_attempt = invoice.collection_method === 'charge_automatically' ? at : null
  invoice.$.nextAt = at
}

function applyParams(
  work: UnitOfWork,
  invoice: InvoiceRow,
  params: Stripe.InvoiceCreateParams | Stripe.InvoiceUpdateParams,
): void {
  const customer = work.require('customer', invoice.customer ?? '')
  if (params.collection_method !== undefined) invoice.collection_method = params.collection_method
  const days = params.days_until_due
  if (
    (days !== undefined || params.due_date !== undefined) &&
    invoice.collection_method !== 'send_invoice'
  ) {
    throw invalidRequest(
      '`due_date` and `days_until_due` can only be set if collection method is `send_invoice`.',
      days === undefined ? 'due_date' : 'days_until_due',
    )
  }
  if (days !== undefined) invoice.due_date = work.now + days * 86_400
  if (params.due_date !== undefined) invoice.due_date = params.due_date
  if (invoice.collection_method === 'send_invoice' && invoice.due_date === null)
    throw missingParam('days_until_due')
  if (params.default_payment_method !== undefined) {
    invoice.default_payment_method = requireOwnMethod(
      work,
      customer,
      params.default_payment_method,
      'default_payment_method',
    )
  }
  if (params.default_tax_rates !== undefined) {
    invoice.default_tax_rates = requireTaxRates(work, params.default_tax_rates, 'default_tax_rates')
  }
  const automatic = wantsAutomaticTax(params)
  if (automatic !== undefined) invoice.automatic_tax = automatic ? AUTOMATIC_TAX : NO_AUTOMATIC_TAX
  if (invoice.automatic_tax.enabled) {
    refuseManualRates(invoice.default_tax_rates, 'default_tax_rates')
  }
  if (params.description !== undefined) invoice.description = params.description
  if (params.footer !== undefined) invoice.footer = params.footer
  if (params.number) invoice.number = params.number
  if (params.statement_descriptor !== undefined)
    invoice.statement_descriptor = params.statement_descriptor
  if (params.custom_fields !== undefined) invoice.custom_fields = params.custom_fields || null
  if (params.discounts !== undefined) {
    invoice.discounts = redeemDiscounts(work, params.discounts, {
      customer,
      invoice: invoice.id,
      currency: invoice.currency,
    })
  }
  invoice.metadata = mergeMetadata(invoice.metadata, params.metadata)
}

function payInvoice(work: UnitOfWork, invoice: InvoiceRow, params: Stripe.InvoicePayParams): void {
  work.edit('invoice', invoice)
  if (invoice.status === 'paid') {
    throw invalidRequest('Invoice is already paid', undefined, 'invoice_already_paid')
  }
  if (invoice.status === 'void') {
    throw invalidRequest(
      'This invoice has been voided and cannot be paid.',
      undefined,
      'invoice_not_editable',
    )
  }
  if (invoice.status === 'draft') finalizeInvoice(work, invoice)
  if (invoice.status === ('paid' as string)) return
  if (params.paid_out_of_band) {
    markPaid(work, invoice, { outOfBand: true })
    return
  }
  const method =
    params.payment_method === undefined
      ? undefined
      : usePaymentMethod(work, params.payment_method, 'payment_method')
  if (method && method.customer !== invoice.customer) {
    throw invalidRequest(
      'The payment method you provided is not attached to the customer of this invoice.',
      'payment_method',
    )
  }
  const outcome = collectInvoice(work, invoice, {
    ...(method ? { method: method.id } : {}),
    offSession: params.off_session ?? true,
  })
  if (outcome.status === 'succeeded' || outcome.status === 'processing') return
  if (outcome.status === 'no_payment_method') {
    throw new StripeFault(400, {
      type: 'invalid_request_error',
      ...withDocs('missing'),
      message:
        'There is no `default_payment_method` set on this Customer or Invoice. Please set either a default payment method on the customer or this invoice, or provide one in the call.',
    })
  }
  const intent = work.require('payment_intent', invoice.$.paymentIntent ?? '')
  const shownIntent = render('payment_intent', intent, work.tables)
  if (outcome.status === 'declined')
    throw cardFault(outcome.decline, { payment_intent: shownIntent }, true)
  throw new StripeFault(
    402,
    {
      type: 'card_error',
      ...withDocs('invoice_payment_intent_requires_action'),
      message:
        'Invoice payment requires additional user action before it can be completed successfully. Payment can be completed using the PaymentIntent associated with this invoice.',
      payment_intent: shownIntent,
    },
    { keepsChanges: true },
  )
}
