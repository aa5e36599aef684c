import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  computeRemainingMoney,
  computeUnusedTimeCredit,
  divideAmount,
  type PaidTime,
  type ReturnedMoney,
  sumReturnedMoney,
} from './money-back.ts'

const nothing: ReturnedMoney = { refunds: [], disputes: [], creditNotes: [] }
const refund = (amount: number, hasFailed = false) => ({ amount, hasFailed })
const note = (amount: number, refunded = 0, isVoid = false) => ({ amount, refunded, isVoid })

/** Payments of 200.00: what was returned, and the expected sum. */
const BACK: ReadonlyArray<[string, Partial<ReturnedMoney>, number]> = [
  ['no refund', {}, 0],
  ['a refund', { refunds: [refund(5000)] }, 5000],
  ['two refunds', { refunds: [refund(5000), refund(15_000)] }, 20_000],
  ['a refund that failed', { refunds: [refund(5000, true), refund(100)] }, 100],
  ['an open dispute', { disputes: [{ amount: 20_000, status: 'open' }] }, 20_000],
  ['a lost dispute', { disputes: [{ amount: 20_000, status: 'lost' }] }, 20_000],
  ['a dispute that was won', { disputes: [{ amount: 20_000, status: 'won' }] }, 0],
  ['an inquiry by the bank', { disputes: [{ amount: 20_000, status: 'inquiry' }] }, 0],
  ['a credit note to the balance', { creditNotes: [note(3000)] }, 3000],
  ['a void credit note', { creditNotes: [note(3000, 0, true)] }, 0],
  [
    'a credit note and its refund once',
    { refunds: [refund(3000)], creditNotes: [note(3000, 3000)] },
    3000,
  ],
  [
    'a credit note larger than its refund',
    { refunds: [refund(1000)], creditNotes: [note(3000, 1000)] },
    3000,
  ],
  [
    'a refund and a separate credit note',
    { refunds: [refund(1000)], creditNotes: [note(3000)] },
    4000,
  ],
  [
    'a credit note whose refund failed',
    { refunds: [refund(3000, true)], creditNotes: [note(3000, 3000)] },
    0,
  ],
  [
    'a refund and a dispute of the rest',
    { refunds: [refund(5000)], disputes: [{ amount: 15_000, status: 'lost' }] },
    20_000,
  ],
]

describe('sumReturnedMoney(), the money returned to a customer (threat Q1)', () => {
  it.each(BACK)('adds up the money returned for a payment with %s', (_, returned, expected) => {
    expect(sumReturnedMoney({ ...nothing, ...returned })).toBe(expected)
  })
})

/** A year for 200.00 with unused time, and the expected credit. */
const CREDIT: ReadonlyArray<[string, Partial<PaidTime>, { unused: number; credit: number }]> = [
  ['all of it paid', {}, { unused: 18_027, credit: 18_027 }],
  ['all of it returned', { returned: 20_000 }, { unused: 18_027, credit: 0 }],
  ['more returned than was paid', { returned: 40_000 }, { unused: 18_027, credit: 0 }],
  ['half of it returned', { returned: 10_000 }, { unused: 18_027, credit: 9013 }],
  ['a cent returned', { returned: 1 }, { unused: 20_000, credit: 19_999 }],
  [
    'half of it withheld earlier',
    { sold: 10_000, withheld: 5000, returned: 10_000 },
    { unused: 9000, credit: 4500 },
  ],
  [
    'a refund that failed after credit was withheld',
    { sold: 1973, withheld: 18_027 },
    { unused: 1000, credit: 1000 },
  ],
  ['nothing sold', { sold: 0 }, { unused: 500, credit: 0 }],
]

describe('computeUnusedTimeCredit(), the credit for unused time (threat Q1)', () => {
  it.each(CREDIT)('is computed from the payment: %s', (_, change, { unused, credit }) => {
    const time = { sold: 20_000, withheld: 0, returned: 0, ...change }
    expect(computeUnusedTimeCredit(unused, time)).toBe(credit)
    expect(computeUnusedTimeCredit(unused, time)).toBeLessThanOrEqual(computeRemainingMoney(time))
  })

  it('is reduced by the possible rounding difference between the tax on the credit and the tax on the charge', () => {
    expect(
      computeUnusedTimeCredit(20_000, { sold: 20_000, withheld: 0, returned: 10_000 }, 2),
    ).toBe(9998)
    expect(computeUnusedTimeCredit(20_000, { sold: 20_000, withheld: 0, returned: 0 }, 2)).toBe(
      20_000,
    )
  })

  it('never exceeds the money that has not been returned yet, in any sequence of use, refunds and credits', () => {
    const steps = fc.array(fc.tuple(fc.constantFrom('credit', 'refund'), fc.nat(20_000)))
    const property = fc.property(steps, (taken) => {
      let time: PaidTime = { sold: 20_000, withheld: 0, returned: 0 }
      let [credited, refunded] = [0, 0]
      for (const [kind, wanted] of taken) {
        if (kind === 'refund') {
          const amount = Math.min(wanted, computeRemainingMoney(time))
          refunded += amount
          time = { ...time, returned: time.returned + amount }
          continue
        }
        const unused = Math.min(wanted, time.sold)
        const credit = computeUnusedTimeCredit(unused, time)
        credited += credit
        const withheld = time.withheld + unused - credit
        time = { ...time, sold: time.sold - unused, withheld }
      }
      expect(credited + refunded).toBeLessThanOrEqual(20_000)
      expect(credited + refunded + computeRemainingMoney(time)).toBe(20_000)
    })
    fc.assert(property)
  })
})

describe('divideAmount()', () => {
  it.each([
    [
      'by weight',
      100,
      [
        [1, 1000],
        [3, 1000],
      ],
      [25, 75],
    ],
    [
      'up to the maximum of each share',
      100,
      [
        [1, 10],
        [1, 1000],
      ],
      [10, 90],
    ],
    [
      'and leaves the rest if all shares reach their maximum',
      100,
      [
        [1, 10],
        [1, 20],
      ],
      [10, 20],
    ],
    [
      'to the last unit',
      100,
      [
        [1, 100],
        [1, 100],
        [1, 100],
      ],
      [34, 34, 32],
    ],
    ['without any shares', 100, [], []],
  ] as const)('divides an amount into shares: %s', (_, amount, shares, expected) => {
    expect(
      divideAmount(
        amount,
        shares.map(([weight, most]) => ({ weight, most })),
      ),
    ).toEqual(expected)
  })
})
