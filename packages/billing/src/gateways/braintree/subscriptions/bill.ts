import { money } from '../../../values/money.ts'
import type { BasisPoints } from '../../../values/tax.ts'
import type { PreviewLineKind, UpcomingInvoice } from '../../contract/upcoming-invoice.ts'
import { includedTax } from '../payments/included-tax.ts'
import { amountOf, hasCyclesLeft, type Modification, type Terms, toMinor } from './plan-credit.ts'

/** A line of a bill, in the smallest unit. */
export interface Line {
  readonly kind: PreviewLineKind
  readonly description: string
  readonly amount: number
}

/** What a cycle is made of. */
export interface CycleTerms {
  readonly planId?: string | undefined
  readonly price: string
  readonly addOns: readonly Modification[]
  readonly discounts: readonly Modification[]
}

/** Price and add-ons less discounts of the cycle that comes next. */
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

/** Negative is in the customer's favour. */
export function lineOfBalance(balance: number): Line {
  const description = balance < 0 ? 'Credit from before' : 'Owed from before'
  return { kind: 'balance', description, amount: balance }
}

/** No bill is below zero: credit that it does not use stays on the balance. */
export function withRest(lines: readonly Line[]): Line[] {
  const rest = Math.max(0, -sumOf(lines))
  return [...lines, { kind: 'balance', description: 'Kept for later invoices', amount: rest }]
}

/** The lines as people read them; they add up to the total. */
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
