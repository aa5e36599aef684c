import { isInRange } from '../api/lists.ts'
import type { StripeOperations } from '../api/operation.ts'
import {
  changeOperation,
  customOperation,
  listOperation,
  removeOperation,
  retrieveOperation,
} from '../api/resource.ts'
import { redeemDiscounts } from '../catalog/redeem-discounts.ts'
import { requireTaxCode } from '../catalog/tax-codes.ts'
import { requireTaxRates } from '../catalog/tax-rates.ts'
import { computeCost } from '../catalog/tiers.ts'
import { rejectManualTaxRates } from '../invoices/automatic-tax.ts'
import { moveItemToInvoice, refreshTotals } from '../invoices/invoice-draft.ts'
import { createInvoiceItem, requireOneTimePrice } from '../invoices/invoice-items.ts'
import { requireCustomer } from '../payments/customer.ts'
import type { InvoiceItemRow, InvoiceRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import {
  createInvalidRequestFault,
  createMutuallyExclusiveFault,
  createNoSuchObjectFault,
} from '../wire/errors.ts'
import { mergeMetadata, pickSentFields } from '../wire/fields.ts'
import { multiplyDecimal } from '../wire/money.ts'

export const invoiceItemOperations: StripeOperations = {
  'InvoiceItems.create': customOperation('invoiceitem', (params, { work }) => {
    const customer = requireCustomer(work, params.customer, 'customer')
    const invoice =
      params.invoice === undefined ? null : requireDraft(work, params.invoice, customer.id)
    const priced = params.pricing?.price !== undefined || params.price_data !== undefined
    const ways = [params.amount, params.unit_amount_decimal, priced ? true : undefined].filter(
      (value) => value !== undefined,
    )
    if (ways.length > 1)
      throw createMutuallyExclusiveFault('amount, pricing, price_data, unit_amount_decimal')
    if (params.amount !== undefined && params.quantity !== undefined && params.quantity !== 1) {
      throw createMutuallyExclusiveFault('amount, quantity', 'quantity')
    }
    if (params.subscription !== undefined) {
      const subscription = work.require('subscription', params.subscription, 'subscription')
      if (subscription.customer !== customer.id)
        throw createNoSuchObjectFault('subscription', subscription.id, 'subscription')
    }
    const price = priced
      ? requireOneTimePrice(
          work,
          { ...pickSentFields(params.pricing, 'price'), price_data: params.price_data },
          'pricing',
        )
      : null
    const item = createInvoiceItem(work, {
      customer,
      amount: params.amount,
      currency: params.currency ?? invoice?.currency,
      price,
      unitAmountDecimal: params.unit_amount_decimal,
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
      if (invoice.automatic_tax.enabled) rejectManualTaxRates(item.tax_rates ?? [], 'tax_rates')
      if (invoice.currency !== item.currency) {
        throw createInvalidRequestFault(
          `The currency of the invoice item (${item.currency}) must match the invoice's (${invoice.currency}).`,
          'currency',
        )
      }
      moveItemToInvoice(work, invoice, item)
      refreshTotals(work, invoice)
    }
    return item
  }),

  'InvoiceItems.retrieve': retrieveOperation('invoiceitem'),

  'InvoiceItems.update': changeOperation('invoiceitem', (item, params, { work }) => {
    const invoice = editableInvoice(work, item)
    Object.assign(item, pickSentFields(params, 'amount', 'description', 'discountable', 'period'))
    if (params.quantity !== undefined || params.unit_amount_decimal !== undefined) {
      const unit = params.unit_amount_decimal?.toString() ?? item.pricing?.unit_amount_decimal
      item.quantity = params.quantity ?? item.quantity
      item.quantity_decimal = String(item.quantity)
      const price = work.find('price', item.$.price ?? '')
      item.amount =
        price && params.unit_amount_decimal === undefined
          ? computeCost(price, item.quantity, item.currency)
          : multiplyDecimal(unit ?? '0', item.quantity)
      if (item.pricing) item.pricing = { ...item.pricing, unit_amount_decimal: unit ?? null }
    }
    item.net_amount = item.amount
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
  }),

  'InvoiceItems.del': removeOperation('invoiceitem', (item, { work }) => {
    const invoice = editableInvoice(work, item)
    work.emit('invoiceitem.deleted', 'invoiceitem', item)
    if (invoice) {
      work.edit('invoice', invoice)
      removeLine(work, invoice, item)
    }
    work.remove('invoiceitem', item)
    if (invoice) refreshTotals(work, invoice)
  }),
  'InvoiceItems.list': listOperation('invoiceitem', {
    by: ['customer'],
    where: {
      created: (row, range) => isInRange(row.date, range),
      pending: (row, pending) => (row.invoice === null) === pending,
    },
  }),
}

function requireDraft(work: UnitOfWork, id: string, customer: string): InvoiceRow {
  const invoice = work.require('invoice', id, 'invoice')
  if (invoice.customer !== customer) throw createNoSuchObjectFault('invoice', id, 'invoice')
  if (invoice.status !== 'draft') {
    throw createInvalidRequestFault(
      'This invoice is no longer editable',
      'invoice',
      'invoice_not_editable',
    )
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
  moveItemToInvoice(work, invoice, item)
}
