import { expect, it } from 'vitest'
import {
  addMonthsTo,
  addMonthsToBillingDay,
  countDaysBetween,
  findNextBillingDay,
  parseDay,
  toBillingDayOfMonth,
} from './days.ts'

it('a Braintree subscription that starts on the 29th, 30th or 31st is billed on the last day of shorter months', () => {
  expect(['2026-01-28', '2026-01-29', '2026-01-30', '2026-01-31'].map(toBillingDayOfMonth)).toEqual(
    [28, 31, 31, 31],
  )
})

it.each([
  ['2026-01-31', 1, 31, '2026-02-28'],
  ['2026-02-28', 1, 31, '2026-03-31'],
  ['2027-12-31', 2, 31, '2028-02-29'],
  ['2026-12-15', 1, 15, '2027-01-15'],
  ['2024-02-29', 12, 31, '2025-02-28'],
])(
  'the next billing date at Braintree: %s plus %i months, with billing day %i, is %s',
  (day, months, anchor, expected) => {
    expect(addMonthsToBillingDay(day, months, anchor)).toBe(expected)
  },
)

it('the next billing date at Braintree is today if today is the billing day', () => {
  expect(findNextBillingDay('2026-01-05', 5)).toBe('2026-01-05')
  expect(findNextBillingDay('2026-01-06', 5)).toBe('2026-02-05')
  expect(findNextBillingDay('2026-02-10', 31)).toBe('2026-02-28')
})

it('calendar days at Braintree are counted across a leap day, and added months end at the last day of the month', () => {
  expect(countDaysBetween('2028-02-28', '2028-03-01')).toBe(2)
  expect(addMonthsTo('2026-10-31', 4)).toBe('2027-02-28')
})

it.each([
  ['2026-02-28', '2026-02-28'],
  ['2026-02-28T13:00:00.000Z', '2026-02-28'],
  ['2026-02-28T23:30:00-01:00', '2026-03-01'],
  ['2026-03-01T00:30:00+01:00', '2026-02-28'],
  ['2026-02-28T25:00:00Z', null],
  ['2026-02-30T00:00:00Z', null],
  ['2026-02-30', null],
  ['28/02/2026', null],
  ['2026-2-8', null],
  [20260228, null],
])('a calendar day at Braintree is read from the text %s as %s', (value, day) => {
  expect(parseDay(value)).toBe(day)
})
