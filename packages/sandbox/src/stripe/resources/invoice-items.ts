import type Stripe from 'stripe'
import { filterRows, inRange, listPage, type Range } from '../api/lists.ts'
import { idOf, type Operations, op } from '../api/operation.ts'
import { redeemDiscounts } from '../catalog/redeem-discounts.ts'
import { requireTaxCode } from '../catalog/tax-codes.ts'
import { requireTaxRates } from '../catalog/tax-rates.ts'
import { amountOf } from '../catalog/tiers.ts'
import { refuseManualRates } from '../invoices/automatic-tax.ts'
import { refreshTotals, takeInvoiceItem } from '../invoices/invoice-draft.ts'
import { newInvoiceItem, requireOneTimePrice } from '../invoices/invoice-items.ts'
import { requireCustomer } from '../payments/customer.ts'
import { render } from '../state/render.ts'
import type { InvoiceItemRow, InvoiceRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { invalidRequest, missingParam, noSuch } from '../wire/errors.ts'
import { mergeMetadata } from '../wire/metadata.ts'
import { multiplyDecimal } from '../wire/money.ts'

export const invoiceItems: Operations = {
  'InvoiceItems.create': op<Stripe.InvoiceItemCreateParams>((params, { work }) => {
    if (params.customer === undefined) throw missingParam('customer')
    const customer = requireCustomer(work, params.customer, 'customer')
    const invoice =
      params.invoice === undefined ? null : requireDraft(work, params.invoice, customer.id)
    const priced = params.pricing?.price !== undefined || params.price_data !== undefined
    const ways = [params.amount, params.unit_amount_decimal, priced ? true : undefined].filter(
      (value) => value !== undefined,
    )
    if (ways.length > 1) {
      throw invalidRequest(
        'You may only specify one of these parameters: amount, pricing, price_data, unit_amount_decimal.',
      )
    }
    if (params.amount !== undefined && params.quantity !== undefined && params.quantity !== 1) {
      throw invalidRequest(
        'You may only specify one of these parameters: amount, quantity.',
        'quantity',
      )
    }
    if (params.subscription !== undefined) {
      const subscription = work.require('subscription', params.subscription, 'subscription')
      if (subscription.customer !== customer.id)
        throw noSuch('subscription', subscription.id, 'subscription')
    }
    const price = priced
      ? requireOneTimePrice(
          work,
          {
            ...(params.pricing?.price === undefined ? {} : { price: params.pricing.price }),
            price_data: params.price_data,
          },
          'pricing',
        )
      : null
    const item = newInvoiceItem(work, {
      customer,
      amount: params.amount,
      currency: params.currency ?? invoice?.currency,
      price,
      unitAmountDecimal:
        params.unit_amount_decimal === undefined ? undefined : String(params.unit_amount_decimal),
      quantity: params.quantity,
      description: params.description ?? null,
      discountable: params.discountable,
      discounts: params.discounts ?? null,
      metadata: params.metadata,
      period: params.period,
      taxRates: params.tax_rates,
      subscription: params.subscription ?? null,
      taxBehavior: params.tax_behavior,
      taxCode: params.tax_code,
    })
    if (invoice) {
      if (invoice.automatic_tax.enabled) refuseManualRates(item.tax_rates ?? [], 'tax_rates')
      if (invoice.currency !== item.currency) {
        throw invalidRequest(
          `The currency of the invoice item (${item.currency}) must match the invoice's (${invoice.currency}).`,
          'currency',
        )
      }
      takeInvoiceItem(work, invoice, item)
      refreshTotals(work, invoice)
    }
    return render('invoiceitem', item, work.tables)
  }),

  'InvoiceItems.retrieve': op((_params, call) =>
    render('invoiceitem', call.work.require('invoiceitem', idOf(call)), call.work.tables),
  ),

  'InvoiceItems.update': op<Stripe.InvoiceItemUpdateParams>((params, call) => {
    const { work } = call
    const item = work.edit('invoiceitem', work.require('invoiceitem', idOf(call)))
    const invoice = editableInvoice(work, item)
    if (params.amount !== undefined) item.amount = params.amount
    if (params.quantity !== undefined || params.unit_amount_decimal !== undefined) {
      const unit =
        params.unit_amount_decimal === undefined
          ? item.pricing?.unit_amount_decimal
          : String(params.unit_amount_decimal)
      item.quantity = params.quantity ?? item.quantity
      item.quantity_decimal = String(item.quantity)
      const price = work.find('price', item.$.price ?? '')
      item.amount =
        price && params.unit_amount_decimal === undefined
          ? amountOf(price, item.quantity, item.currency)
          : multiplyDecimal(unit ?? '0', item.quantity)
      if (item.pricing) item.pricing = { ...item.pricing, unit_amount_decimal: unit ?? null }
    }
    item.net_amount = item.amount
    if (params.description !== undefined) item.description = params.description
    if (params.discountable !== undefined) item.discountable = params.discountable
    if (params.period !== undefined) item.period = { ...params.period }
    if (params.tax_behavior !== undefined) item.$.taxBehavior = params.tax_behavior
    if (params.tax_code) item.$.taxCode = requireTaxCode(params.tax_code)
    if (params.tax_rates !== undefined)
      item.tax_rates = requireTaxRates(work, params.tax_rates, 'tax_rates')
    if (params.discounts !== undefined) {
      const customer = work.require('customer', item.customer)
      item.discounts = redeemDiscounts(work, params.discounts, {
        customer,
        invoiceItem: item.id,
        currency: item.currency,
      })
    }
    item.metadata = mergeMetadata(item.metadata, params.metadata)
    if (invoice) {
      replaceLine(work, invoice, item)
      refreshTotals(work, invoice)
    }
    return render('invoiceitem', item, work.tables)
  }),

  'InvoiceItems.del': op((_params, call) => {
    const { work } = call
    const item = work.require('invoiceitem', idOf(call))
    const invoice = editableInvoice(work, item)
    work.emit('invoiceitem.deleted', 'invoiceitem', item)
    if (invoice) {
      work.edit('invoice', invoice)
      removeLine(work, invoice, item)
    }
    work.remove('invoiceitem', item)
    if (invoice) refreshTotals(work, invoice)
    return { id: item.id, object: 'invoiceitem', deleted: true }
  }),

  'InvoiceItems.list': op<Stripe.InvoiceItemListParams>((params, { work, path }) => {
    const rows = params.customer
      ? work.findBy('invoiceitem', 'customer', params.customer).reverse()
      : work.tables.invoiceitem.newestFirst()
    const wanted = filterRows(
      rows,
      (row) =>
        (params.invoice === undefined || row.invoice === params.invoice) &&
        (params.pending === undefined || (row.invoice === null) === params.pending) &&
        inRange(row.date, params.created as Range | undefined),
    )
    return listPage(wanted, params, path, (row) => render('invoiceitem', row, work.tables))
  }),
}

function requireDraft(work: UnitOfWork, id: string, customer: string): InvoiceRow {
  const invoice = work.require('invoice', id, 'invoice')
  if (invoice.customer !== customer) throw noSuch('invoice', id, 'invoice')
  if (invoice.status !== 'draft') {
    throw invalidRequest('This invoice is no longer editable', 'invoice', 'invoice_not_editable')
  }
  return invoice
}

function editableInvoice(work: UnitOfWork, item: InvoiceItemRow): InvoiceRow | null {
  if (item.invoice === null) return null
  return requireDraft(work, item.invoice, item.customer)
}

function removeLine(work: UnitOfWork, invoice: InvoiceRow, item: InvoiceItemRow): void {
  for (const line of work.findBy('line_item', 'invoice', invoice.id)) {
    if (line.$.invoiceItem === item.id) work.remove('line_item', line)
  }
}

function replaceLine(work: UnitOfWork, invoice: InvoiceRow, item: InvoiceItemRow): void {
  work.edit('invoice', invoice)
  removeLine(work, invoice, item)
  takeInvoiceItem(work, invoice, item)
}
