import { describeInvoiceLine } from '../catalog/describe-price.ts'
import { splitIntoParts } from '../catalog/tiers.ts'
import { sumUsage } from '../catalog/usage.ts'
import type { InvoiceRow, LineRow, PriceRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { formatFixedPoint } from '../wire/decimals.ts'
import { addLine } from './invoice-draft.ts'

/**
 * The usage that an invoice line bills: item, price and period. It can be restored from an existing
 * line.
 */
export interface UsageSource {
  readonly price: PriceRow
  readonly period: { readonly start: number; readonly end: number }
  readonly subscription: string
  readonly subscriptionItem: string
  readonly taxRates: readonly string[] | null
  readonly discounts: readonly string[]
  readonly metadata: Readonly<Record<string, string>>
}

/** Adds the usage of a completed period to an invoice, with one line per tier. */
export function addUsageLines(
  work: UnitOfWork,
  invoice: InvoiceRow,
  source: UsageSource,
): LineRow[] {
  const { price, period } = source
  const used = sumSourceUsage(work, invoice, source)
  return splitIntoParts(price, used, invoice.currency).map((part) => {
    const line = addLine(work, invoice, {
      amount: part.amount,
      description: describeInvoiceLine(work, price, part, invoice.currency),
      quantity: part.quantity,
      period,
      price: price.id,
      product: price.product,
      unitAmountDecimal: part.unitAmount,
      taxRates: source.taxRates,
      discountable: true,
      discounts: source.discounts,
      metadata: source.metadata,
      subscription: source.subscription,
      subscriptionItem: source.subscriptionItem,
      invoiceItem: null,
      proration: false,
    })
    line.$.usage = formatFixedPoint(used)
    return line
  })
}

/**
 * Calculates the usage lines of a draft invoice again before it is finalized, because usage
 * reported until then still counts.
 */
export function refreshUsageLines(work: UnitOfWork, invoice: InvoiceRow): void {
  const lines = work.findBy('line_item', 'invoice', invoice.id)
  const first = new Map<string, LineRow>()
  for (const line of lines) {
    if (line.$.usage !== undefined && line.$.item !== null && !first.has(line.$.item))
      first.set(line.$.item, line)
  }
  for (const [item, line] of first) {
    const source = restoreUsageSource(work, line, item)
    const used = sumSourceUsage(work, invoice, source)
    if (formatFixedPoint(used) === line.$.usage) continue
    for (const each of lines) {
      if (each.$.item === item && each.$.usage !== undefined) work.remove('line_item', each)
    }
    addUsageLines(work, invoice, source)
  }
}

function sumSourceUsage(work: UnitOfWork, { customer }: InvoiceRow, source: UsageSource): bigint {
  const by = { customer: customer ?? '', item: source.subscriptionItem }
  return sumUsage(work, source.price, by, source.period)
}

function restoreUsageSource(work: UnitOfWork, line: LineRow, item: string): UsageSource {
  return {
    price: work.require('price', line.$.price ?? ''),
    period: line.period,
    subscription: line.subscription ?? '',
    subscriptionItem: item,
    taxRates: line.$.taxRates,
    discounts: line.discounts,
    metadata: line.metadata,
  }
}
