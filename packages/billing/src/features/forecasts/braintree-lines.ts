import { money } from '../../core/values/money.ts'
import type { BasisPoints } from '../../core/values/tax.ts'
import {
  type AddOnOrDiscount,
  type CreditTerms,
  getModificationAmount,
  hasCyclesLeft,
  toMinorUnits,
} from '../../providers/braintree/plan-credit.ts'
import { computeIncludedTax } from '../invoices/braintree-included-tax.ts'
import type { PreviewLineKind, UpcomingInvoice } from './upcoming-invoice.ts'

/** A line of a previewed invoice. Its amount is in the currency's smallest unit. */
export interface ForecastLine {
  readonly kind: PreviewLineKind
  readonly description: string
  readonly amount: number
}

/** The price, add-ons and discounts of a billing cycle. */
export interface CycleTerms {
  readonly planId?: string | undefined
  readonly price: string
  readonly addOns: readonly AddOnOrDiscount[]
  readonly discounts: readonly AddOnOrDiscount[]
}

/** Returns the invoice lines of a billing cycle: the price and the add-ons, less discounts. */
export function forecastCycleLines(
  cycle: CycleTerms,
  terms: Pick<CreditTerms, 'currency' | 'planCredit'>,
): ForecastLine[] {
  return [
    {
      kind: 'item',
      description: cycle.planId ?? '',
      amount: toMinorUnits(cycle.price, terms.currency),
    },
    ...cycle.addOns.filter(hasCyclesLeft).map(
      (each): ForecastLine => ({
        kind: 'item',
        description: each.name ?? each.id,
        amount: getModificationAmount(each, terms),
      }),
    ),
    ...cycle.discounts.filter(hasCyclesLeft).map(
      (each): ForecastLine =>
        each.id === terms.planCredit
          ? {
              kind: 'proration',
              description: 'Unused time',
              amount: -getModificationAmount(each, terms),
            }
          : {
              kind: 'discount',
              description: `Discount (${each.name ?? each.id})`,
              amount: -getModificationAmount(each, terms),
            },
    ),
  ]
}

/** Returns the invoice line for the subscription's balance. Negative amounts are credit. */
export function createBalanceLine(balance: number): ForecastLine {
  const description = balance < 0 ? 'Credit from before' : 'Owed from before'
  return { kind: 'balance', description, amount: balance }
}

/**
 * Adds a line for unused credit if the credit exceeds the other lines, so that the total is never
 * below zero. The unused credit stays on the balance.
 */
export function addUnusedCreditLine(lines: readonly ForecastLine[]): ForecastLine[] {
  const rest = Math.max(0, -sumForecastLines(lines))
  return [...lines, { kind: 'balance', description: 'Kept for later invoices', amount: rest }]
}

/** Converts the lines into a preview of an invoice, whose total is the sum of the lines. */
export function toUpcomingInvoice(
  lines: readonly ForecastLine[],
  { currency, tax, date }: { currency: string; tax: BasisPoints; date: Date },
): UpcomingInvoice {
  const total = sumForecastLines(lines)
  return {
    date,
    total: money(total, currency),
    lines: lines
      .filter(({ amount }) => amount !== 0)
      .map(({ amount, ...line }) => ({ ...line, amount: money(amount, currency) })),
    includedTax: money(computeIncludedTax(total, tax), currency),
  }
}

export function sumForecastLines(lines: readonly ForecastLine[]): number {
  return lines.reduce((sum, { amount }) => sum + amount, 0)
}
