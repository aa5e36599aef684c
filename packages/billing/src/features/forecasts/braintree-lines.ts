import { money } from '../../core/values/money.ts'
import type { BasisPoints } from '../../core/values/tax.ts'
import {
  amountOf,
  hasCyclesLeft,
  type Modification,
  type Terms,
  toMinor,
} from '../../providers/braintree/plan-credit.ts'
import { includedTax } from '../invoices/braintree-included-tax.ts'
import type { PreviewLineKind, UpcomingInvoice } from './upcoming-invoice.ts'

/** A line of an invoice, in the currency's smallest unit. */
export interface Line {
  readonly kind: PreviewLineKind
  readonly description: string
  readonly amount: number
}

/** The price, add-ons and discounts of a billing cycle. */
export interface CycleTerms {
  readonly planId?: string | undefined
  readonly price: string
  readonly addOns: readonly Modification[]
  readonly discounts: readonly Modification[]
}

/** Returns the lines of the next cycle: price and add-ons, less discounts. */
export function linesOfCycle(
  cycle: CycleTerms,
  terms: Pick<Terms, 'currency' | 'planCredit'>,
): Line[] {
  return [
    {
      kind: 'item',
      description: cycle.planId ?? '',
      amount: toMinor(cycle.price, terms.currency),
    },
    ...cycle.addOns.filter(hasCyclesLeft).map(
      (each): Line => ({
        kind: 'item',
        description: each.name ?? each.id,
        amount: amountOf(each, terms),
      }),
    ),
    ...cycle.discounts.filter(hasCyclesLeft).map(
      (each): Line =>
        each.id === terms.planCredit
          ? { kind: 'proration', description: 'Unused time', amount: -amountOf(each, terms) }
          : {
              kind: 'discount',
              description: `Discount (${each.name ?? each.id})`,
              amount: -amountOf(each, terms),
            },
    ),
  ]
}

/** Returns the line of a balance. Negative amounts are credit. */
export function lineOfBalance(balance: number): Line {
  const description = balance < 0 ? 'Credit from before' : 'Owed from before'
  return { kind: 'balance', description, amount: balance }
}

/**
 * Adds a line for unused credit, which stays on the balance, so that the total is never below zero.
 */
export function withUnusedCredit(lines: readonly Line[]): Line[] {
  const rest = Math.max(0, -sumOf(lines))
  return [...lines, { kind: 'balance', description: 'Kept for later invoices', amount: rest }]
}

/** Converts the lines into an upcoming invoice. They add up to its total. */
export function toUpcoming(
  lines: readonly Line[],
  { currency, tax, date }: { currency: string; tax: BasisPoints; date: Date },
): UpcomingInvoice {
  const total = sumOf(lines)
  return {
    date,
    total: money(total, currency),
    lines: lines
      .filter(({ amount }) => amount !== 0)
      .map(({ amount, ...line }) => ({ ...line, amount: money(amount, currency) })),
    includedTax: money(includedTax(total, tax), currency),
  }
}

export function sumOf(lines: readonly Line[]): number {
  return lines.reduce((sum, { amount }) => sum + amount, 0)
}
