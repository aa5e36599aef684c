import { expect, it } from 'vitest'
import { type Entry, giftsByInvoice } from './gifts.ts'

const gift = (amount: number): Entry => ({ amount, isGift: true, invoice: null })
const own = (amount: number, invoice: string | null = null): Entry => ({
  amount,
  isGift: false,
  invoice,
})
const used = (amount: number, invoice: string) => own(-amount, invoice)

it.each<[string, readonly Entry[], Record<string, number>]>([
  ['nothing without gifts', [own(1000), used(1000, 'in_1')], { in_1: 0 }],
  ['what a gift paid', [gift(1000), used(700, 'in_1')], { in_1: 700 }],
  ['the customer’s own credit first', [gift(1000), own(500), used(700, 'in_1')], { in_1: 200 }],
  [
    'what is left of it later',
    [gift(1000), own(500), used(700, 'in_1'), used(500, 'in_2')],
    { in_1: 200, in_2: 500 },
  ],
  [
    'a gift again that came back from a void invoice',
    [gift(1000), used(1000, 'in_1'), own(1000, 'in_1'), used(1000, 'in_2')],
    { in_1: 0, in_2: 1000 },
  ],
  [
    'no gift where a negative invoice gave credit',
    [gift(100), own(900, 'in_1'), used(900, 'in_2')],
    { in_1: 0, in_2: 0 },
  ],
  ['a debt before the gift', [own(-300), gift(700), used(400, 'in_1')], { in_1: 400 }],
])('tells %s', (_, entries, expected) => {
  expect(Object.fromEntries(giftsByInvoice(entries))).toEqual(expected)
})
