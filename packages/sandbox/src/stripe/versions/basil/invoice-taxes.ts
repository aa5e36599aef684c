import type { WireObject } from '../../wire/wire-object.ts'
import { isRecord, lookUp } from '../basics/look-up.ts'
import type { VersionChange } from '../basics/version-change.ts'

interface Tax {
  readonly amount: number
  readonly inclusive: boolean
  readonly tax_rate: string | null
  readonly taxability_reason: unknown
  readonly taxable_amount: unknown
}

/** Taxes are told in other words since basil, and no longer as amounts before tax. */
export const invoiceTaxes: VersionChange = {
  since: '2025-03-31',
  name: 'invoice-taxes',
  objects: {
    invoice(wire) {
      const taxes = toOldTaxes(wire.total_taxes)
      wire.tax = taxes.length === 0 ? null : sum(taxes)
      wire.total_tax_amounts = taxes
      delete wire.total_taxes
    },
    line_item(wire, tables) {
      const taxes = toOldTaxes(wire.taxes)
      const rates = tables.line_item.get(wire.id)?.$.taxRates ?? []
      wire.tax_amounts = taxes
      wire.tax_rates = rates.map((id) => lookUp('tax_rate', id, tables))
      wire.amount_excluding_tax =
        Number(wire.amount) - sum(taxes.filter(({ inclusive }) => inclusive))
      wire.unit_amount_excluding_tax = perUnit(wire)
      delete wire.taxes
    },
  },
  expandable: { invoice: ['total_tax_amounts.tax_rate'], line_item: ['tax_amounts.tax_rate'] },
}

function toOldTaxes(taxes: unknown): Tax[] {
  if (!Array.isArray(taxes)) return []
  return taxes.filter(isRecord).map((tax) => ({
    amount: Number(tax.amount),
    inclusive: tax.tax_behavior === 'inclusive',
    tax_rate: isRecord(tax.tax_rate_details) ? String(tax.tax_rate_details.tax_rate) : null,
    // It was null where basil says that it is not available.
    taxability_reason: tax.taxability_reason === 'not_available' ? null : tax.taxability_reason,
    taxable_amount: tax.taxable_amount,
  }))
}

function sum(taxes: readonly Tax[]): number {
  return taxes.reduce((total, { amount }) => total + amount, 0)
}

/** A decimal with at most twelve places, as Stripe writes amounts per unit. */
function perUnit(line: WireObject): string | null {
  const quantity = Number(line.quantity ?? 1)
  if (quantity === 0) return null
  const amount = Number(line.amount_excluding_tax) / quantity
  return Number.isInteger(amount) ? String(amount) : amount.toFixed(12).replace(/\.?0+$/, '')
}
