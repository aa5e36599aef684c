import { expect, it } from 'vitest'
import { type BalanceTransaction, computeGiftsByInvoice } from './stripe-returned.ts'

const gift = (amount: number): BalanceTransaction => ({ amount, isGift: true, invoice: null })
const own = (amount: number, invoice: string | null = null): BalanceTransaction => ({
  amount,
  isGift: false,
  invoice,
})
const used = (amount: number, invoice: string) => own(-amount, invoice)

it.each<[string, readonly BalanceTransaction[], Record<string, number>]>([
  ['nothing without gifts', [own(1000), used(1000, 'in_1')], { in_1: 0 }],
  ['the part paid by a gift', [gift(1000), used(700, 'in_1')], { in_1: 700 }],
  ['the customer’s own credit first', [gift(1000), own(500), used(700, 'in_1')], { in_1: 200 }],
  [
    'the rest of a gift for a later invoice',
    [gift(1000), own(500), used(700, 'in_1'), used(500, 'in_2')],
    { in_1: 200, in_2: 500 },
  ],
  [
    'a gift again after a void invoice returned it',
    [gift(1000), used(1000, 'in_1'), own(1000, 'in_1'), used(1000, 'in_2')],
    { in_1: 0, in_2: 1000 },
  ],
  [
    'no gift for credit from a negative invoice',
    [gift(100), own(900, 'in_1'), used(900, 'in_2')],
    { in_1: 0, in_2: 0 },
  ],
  ['the gift after a debt was paid', [own(-300), gift(700), used(400, 'in_1')], { in_1: 400 }],
])(
  'computeGiftsByInvoice() computes which part of each invoice was paid by gifts: %s',
  (_, entries, expected) => {
    expect(Object.fromEntries(computeGiftsByInvoice(entries))).toEqual(expected)
  },
)
