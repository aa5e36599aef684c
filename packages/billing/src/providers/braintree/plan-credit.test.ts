import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { countDaysBetween, startOfDay, toCalendarDay } from './days.ts'
import { computeUnusedValue, type SubscriptionValueFields } from './plan-credit.ts'

const terms = { currency: 'usd', planCredit: 'plan-credit' }

function subscription(change: object = {}): SubscriptionValueFields {
  return {
    price: '100.00',
    balance: '0.00',
    status: 'Active',
    currentBillingCycle: 1,
    billingPeriodStartDate: '2026-01-01',
    billingPeriodEndDate: '2026-12-31',
    addOns: [],
    discounts: [],
    ...change,
  } as SubscriptionValueFields
}

const discount = (change: object) => ({
  id: 'plan-credit',
  amount: '10.00',
  quantity: 1,
  neverExpires: false,
  numberOfBillingCycles: 1,
  currentBillingCycle: 0,
  ...change,
})

describe('computeUnusedValue(), the unused value of a Braintree subscription,', () => {
  it.each([
    ['the first day: all of it', '2026-01-01', {}, 10_000],
    ['the last day: one of 365 days', '2026-12-31', {}, 27],
    ['the middle of the year', '2026-07-02', {}, 5014],
    ['after the period: nothing', '2027-01-01', {}, 0],
    [
      'the last day of a leap year: one of 366 days',
      '2028-12-31',
      { billingPeriodStartDate: '2028-01-01', billingPeriodEndDate: '2028-12-31' },
      27,
    ],
    [
      '29 February: one of 29 days',
      '2028-02-29',
      {
        price: '29.00',
        billingPeriodStartDate: '2028-02-01',
        billingPeriodEndDate: '2028-02-29',
      },
      100,
    ],
    [
      'a trial: nothing was paid',
      '2026-01-05',
      { billingPeriodStartDate: '', billingPeriodEndDate: '', currentBillingCycle: 0 },
      0,
    ],
    [
      'credit for later cycles',
      '2026-01-01',
      { discounts: [discount({ numberOfBillingCycles: 3 })] },
      13_000,
    ],
    [
      'credit that is half used',
      '2026-01-01',
      { discounts: [discount({ numberOfBillingCycles: 4, currentBillingCycle: 2 })] },
      12_000,
    ],
    [
      'credit that is used up',
      '2026-01-01',
      { discounts: [discount({ currentBillingCycle: 1 })] },
      10_000,
    ],
    ['a balance in the customer’s favour', '2026-01-01', { balance: '-90.00' }, 19_000],
    [
      'a debt, which is collected first, as nothing',
      '2026-01-01',
      { balance: '100.00', status: 'Past Due' },
      10_000,
    ],
    [
      'a coupon of this cycle',
      '2026-01-01',
      { discounts: [discount({ id: 'SPRING', currentBillingCycle: 1 })] },
      9000,
    ],
    [
      'a coupon used up in an earlier cycle',
      '2026-01-01',
      { currentBillingCycle: 2, discounts: [discount({ id: 'SPRING', currentBillingCycle: 1 })] },
      10_000,
    ],
    [
      'a coupon that never expires',
      '2026-01-01',
      { discounts: [discount({ id: 'LOYAL', neverExpires: true, numberOfBillingCycles: null })] },
      9000,
    ],
    [
      'an add-on',
      '2026-01-01',
      { addOns: [discount({ id: 'seats', neverExpires: true, quantity: 2 })] },
      12_000,
    ],
  ])('is computed for %s', (_name, today, change, expected) => {
    expect(computeUnusedValue(subscription(change), { ...terms, today, paid: null })).toBe(expected)
  })

  it('never grows over time, and the used and the unused value add up to the price', () => {
    const start = startOfDay('2026-01-01').getTime()
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 364 }),
        fc.integer({ min: 1, max: 1_000_000 }),
        (day, cents) => {
          const today = toCalendarDay(new Date(start + day * 86_400_000))
          const next = toCalendarDay(new Date(start + (day + 1) * 86_400_000))
          const price = `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`
          const value = (at: string) =>
            computeUnusedValue(subscription({ price }), { ...terms, today: at, paid: null })
          const exact = (cents * (countDaysBetween(today, '2026-12-31') + 1)) / 365
          expect(Math.abs(value(today) - exact)).toBeLessThanOrEqual(0.5)
          expect(value(next)).toBeLessThanOrEqual(value(today))
          expect(value('2026-01-01')).toBe(cents)
        },
      ),
    )
  })
})
