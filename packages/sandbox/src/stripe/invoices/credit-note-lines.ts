import type Stripe from 'stripe'
import { multiplyFraction } from '../../core/rounding.ts'
import { createBlankRow } from '../state/blank.ts'
import { renderRow } from '../state/render.ts'
import type { CreditNoteLineRow, InvoiceRow, LineRow, TaxRateRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import {
  createInvalidRequestFault,
  createMissingParamFault,
  createNoSuchObjectFault,
} from '../wire/errors.ts'
import { mergeMetadata } from '../wire/fields.ts'
import { multiplyDecimal } from '../wire/money.ts'
import { computeTaxes, sumAmounts } from './invoice-totals.ts'

type LineParams = Stripe.CreditNoteCreateParams.Line
/** A line of a credit note that has no id yet. */
export interface NewCreditNoteLine {
  readonly line: Omit<CreditNoteLineRow, '$'>
  readonly by: CreditNoteLineRow['$']['by']
}
type Line = NewCreditNoteLine['line']
type Tax = NonNullable<Line['taxes']>[number]

/**
 * Creates the single line of a credit note for which the call sent only `amount`. The line carries
 * no tax.
 */
export function createAmountLine(work: UnitOfWork, amount: number): NewCreditNoteLine {
  const unit = { quantity: 1, unit_amount: amount, unit_amount_decimal: `${amount}` }
  return { line: { ...newLine(work, amount), ...unit }, by: null }
}

export function parseCreditNoteLines(
  work: UnitOfWork,
  invoice: InvoiceRow,
  params: readonly LineParams[],
): NewCreditNoteLine[] {
  const before = sumEarlierCredits(work, invoice)
  return params.map((each, at) => {
    const path = `lines[${at}]`
    if (each.type === 'invoice_line_item')
      return creditInvoiceLine(work, invoice, each, path, before)
    return { line: customLine(work, invoice, each, path), by: null }
  })
}

/** How much of an invoice line has been credited, and by which measure. */
interface CreditedSoFar {
  readonly amount: number
  readonly quantity: number
  readonly by: 'amount' | 'quantity'
}

/** Sums the credits of each invoice line from credit notes that are not void. */
function sumEarlierCredits(work: UnitOfWork, invoice: InvoiceRow): Map<string, CreditedSoFar> {
  const credited = new Map<string, CreditedSoFar>()
  for (const id of invoice.$.creditNotes ?? []) {
    const note = work.require('credit_note', id)
    if (note.status === 'void') continue
    for (const each of note.$.lines) {
      const row = work.require('credit_note_line_item', each)
      const { invoice_line_item: line, amount, quantity } = row
      if (line === undefined || row.$.by === null) continue
      const before = credited.get(line) ?? { amount: 0, quantity: 0 }
      credited.set(line, {
        amount: before.amount + amount,
        quantity: before.quantity + (row.$.by === 'quantity' ? (quantity ?? 0) : 0),
        by: row.$.by,
      })
    }
  }
  return credited
}

/** Credits part of an invoice line, with the same share of its discounts and taxes. */
function creditInvoiceLine(
  work: UnitOfWork,
  invoice: InvoiceRow,
  params: LineParams,
  path: string,
  credited: Map<string, CreditedSoFar>,
): NewCreditNoteLine {
  const whole = requireLine(work, invoice, params, path)
  const by = params.quantity === undefined ? 'amount' : 'quantity'
  const before = credited.get(whole.id) ?? { amount: 0, quantity: 0, by }
  if (before.by !== by) {
    throw createInvalidRequestFault(
      `This line was credited by ${before.by} before, so it cannot be credited by ${by}.`,
      `${path}[${by}]`,
    )
  }
  const quantity = before.quantity + (params.quantity ?? 0)
  const amount =
    by === 'amount' ? (params.amount ?? 0) : cumulativeAmount(whole, quantity, path) - before.amount
  const after = before.amount + amount
  if (amount < 1 || after > whole.amount) {
    const left = Math.max(0, whole.amount - before.amount)
    throw createInvalidRequestFault(
      `The amount to credit (${amount}) must be positive and at most what is left of the line (${left}).`,
      `${path}[${by}]`,
    )
  }
  credited.set(whole.id, { amount: after, quantity, by })
  // Rounds cumulatively from the start of the line, so that partial credits add up to the line's
  // full taxes.
  const share = (sum: number) =>
    multiplyFraction(sum, after, whole.amount) - multiplyFraction(sum, before.amount, whole.amount)
  const discounts = (whole.discount_amounts ?? []).map((each) => ({
    amount: share(each.amount),
    discount: each.discount,
  }))
  const taxes = (whole.taxes ?? []).map(
    (tax): Tax => ({
      ...tax,
      amount: share(tax.amount),
      taxable_amount: tax.taxable_amount === null ? null : share(tax.taxable_amount),
    }),
  )
  const line = {
    ...newLine(work, amount),
    description: whole.description,
    discount_amount: sumAmounts(discounts),
    discount_amounts: discounts,
    invoice_line_item: whole.id,
    metadata: mergeMetadata({}, params.metadata),
    quantity: params.quantity ?? null,
    tax_rates: ratesOf(work, taxes),
    taxes,
    type: 'invoice_line_item',
  } as const
  return { line, by }
}

function requireLine(
  work: UnitOfWork,
  invoice: InvoiceRow,
  params: LineParams,
  path: string,
): LineRow {
  const id = params.invoice_line_item
  if (id === undefined) throw createMissingParamFault(`${path}[invoice_line_item]`)
  const line = work.find('line_item', id)
  if (line?.invoice !== invoice.id)
    throw createNoSuchObjectFault('line item', id, `${path}[invoice_line_item]`)
  for (const name of ['description', 'unit_amount', 'unit_amount_decimal', 'tax_rates'] as const) {
    if (params[name] !== undefined)
      throw createLineTypeFault('custom_line_item', `${path}[${name}]`)
  }
  if ((params.amount === undefined) === (params.quantity === undefined)) {
    throw createInvalidRequestFault(
      'You must specify exactly one of these parameters: amount, quantity.',
      `${path}[amount]`,
    )
  }
  return line
}

/**
 * Returns the cost of the first `quantity` units of a line, so that partial credits by quantity add
 * up to the line's amount.
 */
function cumulativeAmount(line: LineRow, quantity: number, path: string): number {
  const all = line.quantity ?? 1
  if (quantity < 1 || quantity > all) {
    throw createInvalidRequestFault(
      `The quantity to credit must be between 1 and what is left of the line's (${all}).`,
      `${path}[quantity]`,
    )
  }
  return multiplyFraction(line.amount, quantity, all)
}

/** Creates a custom line, taxed at the rates it names. */
function customLine(work: UnitOfWork, invoice: InvoiceRow, params: LineParams, path: string): Line {
  if (params.amount !== undefined) throw createLineTypeFault('invoice_line_item', `${path}[amount]`)
  if (params.invoice_line_item !== undefined) {
    throw createLineTypeFault('invoice_line_item', `${path}[invoice_line_item]`)
  }
  if (params.description === undefined) throw createMissingParamFault(`${path}[description]`)
  const { unit_amount: cents, unit_amount_decimal: decimal, quantity = 1 } = params
  if ((cents === undefined) === (decimal === undefined)) {
    throw createInvalidRequestFault(
      'You must specify one of these parameters: unit_amount, unit_amount_decimal.',
      `${path}[unit_amount]`,
    )
  }
  const unit = String(cents ?? decimal)
  const amount = multiplyDecimal(unit, quantity)
  if (amount < 1) {
    throw createInvalidRequestFault(
      'This value must be greater than or equal to 1.',
      `${path}[unit_amount]`,
    )
  }
  const rates = (params.tax_rates || []).map((id, at) =>
    work.require('tax_rate', id, `${path}[tax_rates][${at}]`),
  )
  const taxes = computeTaxes(amount, rates, invoice) as Tax[]
  return {
    ...newLine(work, amount),
    description: params.description,
    metadata: mergeMetadata({}, params.metadata),
    quantity,
    tax_rates: ratesOf(work, taxes),
    taxes,
    unit_amount: /^\d+$/.test(unit) ? Number(unit) : null,
    unit_amount_decimal: unit,
  }
}

function newLine(work: UnitOfWork, amount: number): Line {
  return {
    ...createBlankRow('credit_note_line_item'),
    id: work.newId('cnli_1'),
    amount,
    discount_amount: 0,
    discount_amounts: [],
    metadata: {},
    pretax_credit_amounts: [],
    tax_rates: [],
    taxes: [],
    type: 'custom_line_item',
  }
}

function ratesOf(work: UnitOfWork, taxes: readonly Tax[]): Line['tax_rates'] {
  return taxes.flatMap(({ tax_rate_details: details }) => {
    const rate = work.find('tax_rate', details?.tax_rate ?? '')
    return rate ? [renderRow('tax_rate', rate, work.tables) as unknown as TaxRateRow] : []
  })
}

function createLineTypeFault(type: string, path: string) {
  return createInvalidRequestFault(
    `This parameter is only valid when the line's type is ${type}.`,
    path,
  )
}
