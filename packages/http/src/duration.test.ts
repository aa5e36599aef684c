import { expect, it } from 'vitest'
import { addDuration, addMonths, type Duration, daysInMonth } from './duration.ts'

const at = (text: string) => new Date(text)

it('addMonths() keeps the day of the start date, or takes the last day of a shorter month, also in leap years', () => {
  const anchor = at('2023-12-31T08:00:00Z')
  const days = [1, 2, 3, 4, 14].map((n) => addMonths(anchor, n).toISOString().slice(0, 10))
  expect(days).toEqual(['2024-01-31', '2024-02-29', '2024-03-31', '2024-04-30', '2025-02-28'])
  expect(addMonths(at('2024-02-29T00:00:00Z'), 12).toISOString()).toBe('2025-02-28T00:00:00.000Z')
  expect(addMonths(anchor, -1).toISOString()).toBe('2023-11-30T08:00:00.000Z')
  expect(addDuration(anchor, { years: 1, days: 1, seconds: 5 }).toISOString()).toBe(
    '2025-01-01T08:00:05.000Z',
  )
})

it('daysInMonth() returns the length of each month, and also accepts months beyond December', () => {
  for (let month = -14; month < 27; month++) {
    for (const year of [1900, 1999, 2000, 2023, 2024, 2100]) {
      const last = new Date(Date.UTC(year, month + 1, 0)).getUTCDate()
      expect([year, month, daysInMonth(year, month)]).toEqual([year, month, last])
    }
  }
})

it.each(['15d', 15, null, undefined, { day: 15 }, { days: 1.5 }, { days: '15' }])(
  'addDuration() rejects %j with an error that lists the valid units',
  (by) => {
    expect(() => addDuration(new Date(0), by as Duration)).toThrow(
      'the units are years, months, weeks, days, hours, minutes, seconds',
    )
  },
)

it('addDuration() accepts a duration without units and negative numbers', () => {
  expect(addDuration(new Date(0), {}).getTime()).toBe(0)
  expect(addDuration(new Date(0), { seconds: -1 }).getTime()).toBe(-1000)
})
