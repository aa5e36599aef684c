import type Stripe from 'stripe'
import { isInRange, listPage } from '../api/lists.ts'
import type { StripeOperations } from '../api/operation.ts'
import {
  changeOperation,
  customOperation,
  listOperation,
  removeOperation,
  retrieveOperation,
  searchOperation,
} from '../api/resource.ts'
import { redeemDiscounts } from '../catalog/redeem-discounts.ts'
import { requireTaxRates } from '../catalog/tax-rates.ts'
import {
  applyAutomaticTax,
  readAutomaticTaxParam,
  rejectManualTaxRates,
} from '../invoices/automatic-tax.ts'
import {
  createInvoice,
  listPendingItems,
  moveItemToInvoice,
  refreshTotals,
} from '../invoices/invoice-draft.ts'
import {
  collectInvoice,
  finalizeInvoice,
  markInvoicePaid,
  markInvoiceUncollectible,
  voidInvoice,
} from '../invoices/invoice-payment.ts'
import { requireCustomer, requireOwnPaymentMethod } from '../payments/customer.ts'
import { resolvePaymentMethod } from '../payments/new-payment-method.ts'
import { createCardFault } from '../payments/payment-attempt.ts'
import { renderRow } from '../state/render.ts'
import type { InvoiceRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import {
  createInvalidRequestFault,
  createMissingParamFault,
  createNoSuchObjectFault,
  StripeFault,
  withErrorDocsUrl,
} from '../wire/errors.ts'
import { mergeMetadata, pickSentFields } from '../wire/fields.ts'
import { requireCurrency } from '../wire/money.ts'

const HOUR = 3600

export const invoiceOperations: StripeOperations = {
  'Invoices.create': customOperation('invoice', (params, { work }) => {
    const customer = requireCustomer(work, params.customer, 'customer')
    const subscription =
      params.subscription === undefined
        ? null
        : work.require('subscription', params.subscription, 'subscription')
    if (subscription && subscription.customer !== customer.id)
      throw createNoSuchObjectFault('subscription', subscription.id, 'subscription')
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
      automaticTax: readAutomaticTaxParam(params),
    })
    applyParams(work, invoice, params)
    // Pending invoice items are added only with `include`.
    if (params.pending_invoice_items_behavior === 'include') {
      for (const item of listPendingItems(work, customer.id, currency, subscription?.id ?? null)) {
        moveItemToInvoice(work, invoice, item)
      }
    }
    if (invoice.auto_advance) planFinalization(work, invoice)
    refreshTotals(work, invoice)
    work.emit('invoice.created', 'invoice', invoice)
    return invoice
  }),

  'Invoices.retrieve': retrieveOperation('invoice'),
  'Invoices.update': changeOperation('invoice', (invoice, params, { work }) => {
    const draftOnly = Object.keys(params).filter(
      (key) => !['metadata', 'expand', 'auto_advance', 'default_payment_method'].includes(key),
    )
    if (invoice.status !== 'draft' && draftOnly.length > 0) {
      throw notEditable("Finalized invoices can't be updated in this way", draftOnly[0])
    }
    applyParams(work, invoice, params)
    const isDraft = invoice.status === 'draft'
    if (params.auto_advance !== undefined) {
      invoice.auto_advance = params.auto_advance
      if (params.auto_advance && isDraft) planFinalization(work, invoice)
      else if (!params.auto_advance) {
        if (isDraft) invoice.automatically_finalizes_at = null
        invoice.next_payment_attempt = null
        invoice.$.nextAt = null
      }
    }
    if (isDraft) refreshTotals(work, invoice)
  }),
  'Invoices.del': removeOperation('invoice', (invoice, { work }) => {
    if (invoice.status !== 'draft') throw notEditable('You can only delete draft invoices.')
    if (invoice.$.subscription) {
      throw createInvalidRequestFault(
        'You cannot delete an invoice that was created by a subscription.',
      )
    }
    work.emit('invoice.deleted', 'invoice', invoice)
    for (const item of work.findBy('invoiceitem', 'invoice', invoice.id)) {
      work.emit('invoiceitem.deleted', 'invoiceitem', item)
      work.remove('invoiceitem', item)
    }
    for (const line of work.findBy('line_item', 'invoice', invoice.id))
      work.remove('line_item', line)
    work.remove('invoice', invoice)
  }),
  'Invoices.list': listOperation('invoice', {
    by: ['subscription', 'customer', 'status'],
    where: {
      due_date: (row, range) => isInRange(row.due_date ?? 0, range),
      subscription: (row, id) => row.$.subscription === id,
    },
  }),
  'Invoices.search': searchOperation('invoice'),

  'Invoices.finalizeInvoice': changeOperation('invoice', (invoice, params, { work }) => {
    if (invoice.status !== 'draft') {
      throw notEditable(
        "This invoice is already finalized, you can't re-finalize a non-draft invoice.",
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
  }),
  'Invoices.pay': changeOperation('invoice', (invoice, params, { work }) =>
    payInvoice(work, invoice, params),
  ),
  'Invoices.voidInvoice': changeOperation('invoice', (invoice, _params, { work }) =>
    voidInvoice(work, invoice),
  ),
  'Invoices.markUncollectible': changeOperation('invoice', (invoice, _params, { work }) => {
    if (invoice.status !== 'open') {
      throw notEditable(
        `You can only mark open invoices as uncollectible. This invoice's status is ${invoice.status}.`,
      )
    }
    markInvoiceUncollectible(work, invoice)
  }),
  'Invoices.sendInvoice': changeOperation('invoice', (invoice, _params, { work }) => {
    if (invoice.collection_method !== 'send_invoice') {
      throw createInvalidRequestFault(
        "You can only manually send an invoice if its collection method is 'send_invoice'.",
      )
    }
    if (invoice.status === 'draft') finalizeInvoice(work, invoice)
    if (invoice.due_date) invoice.$.nextAt = invoice.due_date
    work.emit('invoice.sent', 'invoice', invoice)
  }),
  'Invoices.listLineItems': (params, { work, id, path }) => {
    const lines = work.findBy('line_item', 'invoice', work.require('invoice', id).id)
    return listPage(lines, params, path, (row) => renderRow('line_item', row, work.tables))
  },
}

function notEditable(message: string, param?: string): StripeFault {
  return createInvalidRequestFault(message, param, 'invoice_not_editable')
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
    throw createInvalidRequestFault(
      '`due_date` and `days_until_due` can only be set if collection method is `send_invoice`.',
      days === undefined ? 'due_date' : 'days_until_due',
    )
  }
  if (days !== undefined) invoice.due_date = work.now + days * 86_400
  if (params.due_date !== undefined) invoice.due_date = params.due_date
  if (invoice.collection_method === 'send_invoice' && invoice.due_date === null)
    throw createMissingParamFault('days_until_due')
  if (params.default_payment_method !== undefined) {
    invoice.default_payment_method = requireOwnPaymentMethod(
      work,
      customer,
      params.default_payment_method,
    )
  }
  if (params.default_tax_rates !== undefined) {
    invoice.default_tax_rates = requireTaxRates(work, params.default_tax_rates, 'default_tax_rates')
  }
  applyAutomaticTax(invoice, params)
  if (invoice.automatic_tax.enabled) {
    rejectManualTaxRates(invoice.default_tax_rates, 'default_tax_rates')
  }
  Object.assign(
    invoice,
    pickSentFields(params, 'custom_fields', 'description', 'footer', 'statement_descriptor'),
  )
  if (params.number) invoice.number = params.number
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
  if (invoice.status === 'paid') {
    throw createInvalidRequestFault('Invoice is already paid', undefined, 'invoice_already_paid')
  }
  if (invoice.status === 'void') {
    throw notEditable('This invoice has been voided and cannot be paid.')
  }
  if (invoice.status === 'draft') finalizeInvoice(work, invoice)
  if (invoice.status === ('paid' as string)) return
  if (params.paid_out_of_band) {
    markInvoicePaid(work, invoice, { outOfBand: true })
    return
  }
  const method =
    params.payment_method === undefined
      ? undefined
      : resolvePaymentMethod(work, params.payment_method, 'payment_method')
  if (method && method.customer !== invoice.customer) {
    throw createInvalidRequestFault(
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
    throw createInvalidRequestFault(
      'There is no `default_payment_method` set on this Customer or Invoice. Please set either a default payment method on the customer or this invoice, or provide one in the call.',
      undefined,
      'missing',
    )
  }
  const intent = work.require('payment_intent', invoice.$.paymentIntent ?? '')
  const shownIntent = renderRow('payment_intent', intent, work.tables)
  if (outcome.status === 'declined')
    throw createCardFault(outcome.decline, { payment_intent: shownIntent }, true)
  throw new StripeFault(
    402,
    {
      type: 'card_error',
      ...withErrorDocsUrl('invoice_payment_intent_requires_action'),
      message:
        'Invoice payment requires additional user action before it can be completed successfully. Payment can be completed using the PaymentIntent associated with this invoice.',
      payment_intent: shownIntent,
    },
    { keepsChanges: true },
  )
}
