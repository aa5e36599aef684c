import { describe, expect, it } from 'vitest'
import { InvalidArgument } from '../../core/errors/errors.ts'
import {
  mayReportBeCancelled,
  mayReportBeResent,
  requireUsageTime,
  requireUsageValue,
} from './usage-value.ts'

const NOW = new Date('2026-03-01T00:00:00Z')
const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE
const at = (offset: number) => new Date(NOW.getTime() + offset)

describe('requireUsageValue()', () => {
  it.each([
    [3, '3'],
    [0, '0'],
    [-0, '0'],
    [-2, '-2'],
    [2.5, '2.5'],
    [0.1 + 0.2, '0.3'],
    ['007.50', '7.5'],
    ['-0.0', '0'],
    ['0.000000000001', '0.000000000001'],
    ['123456789012345.123456789012', '123456789012345.123456789012'],
    ['1.0000000000000000', '1'],
    [999_999_999_999_999, '999999999999999'],
  ])('converts the value %s to %s', (value, stored) => {
    expect(requireUsageValue(value)).toBe(stored)
  })

  it.each([
    Number.NaN,
    Number.POSITIVE_INFINITY,
    1e15,
    1e21,
    1e-7,
    2 ** 53 + 2,
    '',
    ' 1',
    '1,5',
    '1e3',
    '.5',
    '5.',
    '--1',
    '0x10',
    '1234567890123456',
    '0.1234567890123',
    'a'.repeat(1000),
    null,
    undefined,
    10n,
    {},
  ])('rejects %s', (value) => {
    expect(() => requireUsageValue(value)).toThrow(InvalidArgument)
  })
})

describe('requireUsageValue() with a limit of digits', () => {
  it.each(['123456789012345', '-1234567890.12345', '0.000000000001', '0012.5000000000000000'])(
    'accepts %s with at most 15 digits',
    (value) => {
      expect(() => requireUsageValue(value, 15)).not.toThrow()
    },
  )

  it.each(['123456789.1234567', '1234567890123.456', '-123456789012345.1'])(
    'rejects %s with more digits',
    (value) => {
      expect(() => requireUsageValue(value, 15)).toThrow('at most 15 digits')
    },
  )
})

describe('requireUsageTime()', () => {
  it.each([
    ['now', 0],
    ['35 days ago', -35 * DAY],
    ['5 minutes ahead', 5 * MINUTE],
  ])('accepts %s', (_when, offset) => {
    expect(requireUsageTime(at(offset), NOW)).toEqual(at(offset))
  })

  it.each([
    ['more than 35 days ago', -35 * DAY - 1],
    ['more than 5 minutes ahead', 5 * MINUTE + 1],
    ['an invalid date', Number.NaN],
  ])('rejects %s', (_when, offset) => {
    expect(() => requireUsageTime(at(offset), NOW)).toThrow(InvalidArgument)
    expect(() => requireUsageTime('2026-03-01', NOW)).toThrow(InvalidArgument)
  })
})

it('a report with an unknown outcome is sent again for less than a day, and can be cancelled for one day', () => {
  expect(mayReportBeResent(NOW, NOW)).toBe(true)
  expect(mayReportBeResent(at(-23 * 60 * MINUTE + 1), NOW)).toBe(true)
  expect(mayReportBeResent(at(-23 * 60 * MINUTE), NOW)).toBe(false)
  expect(mayReportBeCancelled(at(-DAY + 1), NOW)).toBe(true)
  expect(mayReportBeCancelled(at(-DAY), NOW)).toBe(false)
})

it.each([
  [at(-36 * DAY), '2026-01-24T00:00:00.000Z is more than 35 days ago'],
  [at(-36 * DAY), 'expected 2026-01-25T00:00:00.000Z or later'],
  [at(6 * MINUTE), '2026-03-01T00:06:00.000Z is in the future'],
  ['yesterday', "'yesterday' is not a date"],
  [new Date(Number.NaN), 'Invalid Date is not a date'],
])('requireUsageTime() rejects %s, and names the time and the allowed range', (when, words) => {
  expect(() => requireUsageTime(when, NOW)).toThrow(words)
})
