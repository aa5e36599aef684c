import { findAmountOff } from '../catalog/coupons.ts'
import { findDiscountCoupon } from '../state/discounts.ts'
import type { InvoiceRow, LineRow, TaxRateRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { allocateByWeight, computeInclusiveTax, computePercentage } from '../wire/money.ts'
import { createLineAssessment, type TaxReason } from './automatic-tax.ts'

/** Calculates the discounts, taxes and totals of an invoice from its lines. */
export function computeTotals(
  work: UnitOfWork,
  invoice: InvoiceRow,
  lines: readonly LineRow[],
): void {
  const net = applyDiscounts(work, invoice, lines)
  const { exclusive, inclusive } = applyTaxes(work, invoice, lines, net)
  const subtotal = lines.reduce((sum, line) => sum + line.amount, 0)
  const discounted = lines.reduce((sum, line) => sum + sumAmounts(line.discount_amounts), 0)
  invoice.subtotal = subtotal
  invoice.subtotal_excluding_tax = subtotal - inclusive
  invoice.total = subtotal - discounted + exclusive
  invoice.total_excluding_tax = invoice.total - exclusive - inclusive
  invoice.total_discount_amounts = groupDiscounts(lines)
  invoice.total_taxes = groupTaxes(lines)
  invoice.total_pretax_credit_amounts = []
  const due = Math.max(0, invoice.total + invoice.starting_balance)
  invoice.amount_due = due
  invoice.amount_remaining = due
}

/** Sets each line's `discount_amounts`. Returns the remaining amount of each line. */
function applyDiscounts(
  work: UnitOfWork,
  invoice: InvoiceRow,
  lines: readonly LineRow[],
): Map<LineRow, number> {
  const net = new Map(lines.map((line) => [line, line.amount]))
  for (const line of lines) line.discount_amounts = []
  const all = new Set([...lines.flatMap((line) => line.discounts), ...invoice.discounts])
  for (const id of all) {
    const coupon = findDiscountCoupon(work, id)
    if (!coupon) continue
    const covered = lines.filter(
      (line) =>
        line.discountable &&
        (net.get(line) ?? 0) > 0 &&
        (invoice.discounts.includes(id) || line.discounts.includes(id)) &&
        (coupon.$.products === null || coupon.$.products.includes(line.$.product ?? '')),
    )
    const left = covered.map((line) => net.get(line) ?? 0)
    const amounts =
      coupon.percent_off !== null
        ? left.map((amount) => computePercentage(amount, coupon.percent_off ?? 0))
        : allocateByWeight(
            Math.min(
              findAmountOff(coupon, invoice.currency) ?? 0,
              left.reduce((a, b) => a + b, 0),
            ),
            left,
          )
    covered.forEach((line, at) => {
      const amount = amounts[at] ?? 0
      line.discount_amounts = [...(line.discount_amounts ?? []), { amount, discount: id }]
      net.set(line, (net.get(line) ?? 0) - amount)
    })
  }
  return net
}

function applyTaxes(
  work: UnitOfWork,
  invoice: InvoiceRow,
  lines: readonly LineRow[],
  net: ReadonlyMap<LineRow, number>,
): { exclusive: number; inclusive: number } {
  let exclusive = 0
  let inclusive = 0
  const assess = createLineAssessment(work, invoice)
  for (const line of lines) {
    // Lines with their own tax rates keep them, also with automatic tax.
    const { rates, reason } =
      assess && line.$.taxRates === null
        ? assess(line)
        : { rates: ratesOf(work, line.$.taxRates ?? invoice.default_tax_rates), reason: null }
    line.taxes = computeTaxes(net.get(line) ?? 0, rates, invoice, reason)
    for (const tax of line.taxes) {
      if (tax.tax_behavior === 'inclusive') inclusive += tax.amount
      else exclusive += tax.amount
    }
    line.subtotal = line.amount
  }
  return { exclusive, inclusive }
}

function ratesOf(work: UnitOfWork, ids: readonly string[]): TaxRateRow[] {
  return ids.flatMap((id) => work.find('tax_rate', id) ?? [])
}

/**
 * Calculates the tax of an amount for each tax rate. The tax is added to the amount (exclusive) or
 * contained in it (inclusive). `reason` is set for rates of automatic tax.
 */
export function computeTaxes(
  amount: number,
  rates: readonly TaxRateRow[],
  { customer_tax_exempt: exemption }: Pick<InvoiceRow, 'customer_tax_exempt'>,
  reason: TaxReason | null = null,
): NonNullable<LineRow['taxes']> {
  const exempt = reason === null && exemption !== 'none' && exemption !== null
  const contained = rates.filter((rate) => rate.inclusive)
  const inside = exempt ? 0 : computeContainedTax(amount, contained)
  return rates.map((rate) => {
    const tax = rate.inclusive
      ? computeTaxShare(inside, rate, contained)
      : computePercentage(amount - inside, rate.percentage)
    return {
      amount: exempt ? 0 : tax,
      tax_behavior: rate.inclusive ? 'inclusive' : 'exclusive',
      tax_rate_details: { tax_rate: rate.id },
      taxability_reason: reason ?? (exempt ? 'customer_exempt' : 'not_available'),
      taxable_amount: amount - inside,
      type: 'tax_rate_details',
    }
  })
}

function computeContainedTax(amount: number, rates: readonly TaxRateRow[]): number {
  return computeInclusiveTax(
    amount,
    rates.reduce((sum, rate) => sum + rate.percentage, 0),
  )
}

/**
 * Returns the share of a rate in the total tax of all inclusive rates, in proportion to its
 * percentage. The rounded shares of all rates add up to the total.
 */
function computeTaxShare(total: number, rate: TaxRateRow, rates: readonly TaxRateRow[]): number {
  const shares = allocateByWeight(
    total,
    rates.map((each) => Math.round(each.percentage * 10_000)),
  )
  return shares[rates.indexOf(rate)] ?? 0
}

/** Sums the amounts of each discount over all lines of an invoice. */
export function groupDiscounts(
  lines: ReadonlyArray<Pick<LineRow, 'discount_amounts'>>,
): NonNullable<InvoiceRow['total_discount_amounts']> {
  const totals = new Map<string, number>()
  for (const line of lines) {
    for (const { amount, discount } of line.discount_amounts ?? []) {
      totals.set(discount, (totals.get(discount) ?? 0) + amount)
    }
  }
  return [...totals].map(([discount, amount]) => ({ amount, discount }))
}

/**
 * Sums the taxes of all lines of an invoice by rate and reason. Taxes of zero are included with
 * their reason.
 */
export function groupTaxes(
  lines: ReadonlyArray<Pick<LineRow, 'taxes'>>,
): NonNullable<InvoiceRow['total_taxes']> {
  const totals = new Map<string, NonNullable<InvoiceRow['total_taxes']>[number]>()
  for (const line of lines) {
    for (const tax of line.taxes ?? []) {
      const key = `${tax.tax_rate_details?.tax_rate} ${tax.taxability_reason}`
      const known = totals.get(key)
      const amount = (known?.amount ?? 0) + tax.amount
      const taxable_amount = known
        ? (known.taxable_amount ?? 0) + (tax.taxable_amount ?? 0)
        : tax.taxable_amount
      totals.set(key, { ...tax, amount, taxable_amount })
    }
  }
  return [...totals.values()]
}

export function sumAmounts(amounts: ReadonlyArray<{ amount: number }> | null): number {
  return (amounts ?? []).reduce((sum, { amount }) => sum + amount, 0)
}
