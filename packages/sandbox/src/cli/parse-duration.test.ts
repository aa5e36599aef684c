import { expect, it } from 'vitest'
import { parseDuration } from './parse-duration.ts'

it.each([
  ['1month', { months: '1' }],
  ['3d', { days: '3' }],
  ['12 hours', { hours: '12' }],
  ['1month 1h', { months: '1', hours: '1' }],
  ['2 weeks, 90min', { weeks: '2', minutes: '90' }],
  ['1Y', { years: '1' }],
  ['1mo', { months: '1' }],
  ['45s', { seconds: '45' }],
])('parseDuration() accepts %s', (text, fields) => {
  expect(parseDuration(text)).toEqual(fields)
})

it('parseDuration() rejects 1m, which could mean minutes or months', () => {
  expect(() => parseDuration('1m')).toThrow('1m could be minutes or months: write 1min or 1month')
})

it.each(['', 'soon', '1', 'month', '1 fortnight', '1d and 2h', '1d 2d', '1.5d', '0x1d'])(
  'parseDuration() rejects %j and gives examples',
  (text) => {
    expect(() => parseDuration(text)).toThrow(/is not a duration. Examples: 12h, 3d/)
  },
)

it('parseDuration() rejects negative durations', () => {
  expect(() => parseDuration('-1d')).toThrow('only move forward')
})
