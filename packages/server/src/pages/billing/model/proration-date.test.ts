import { describe, expect, it } from 'vitest'
import { parseProrationDate } from './plans.ts'

const now = new Date('2027-03-03T10:00:00Z')
const minutes = (count: number) => String(now.getTime() + count * 60_000)

describe('parseProrationDate()', () => {
  it.each([
    ['just now', minutes(0), true],
    ['a while ago', minutes(-15), true],
    ['too long ago', minutes(-16), false],
    ['in the future', minutes(1), false],
    ['long ago, for a full refund', '0', false],
    ['no number', '2027-03-03', false],
    ['negative', '-1', false],
    ['missing', null, false],
    ['endless', '9'.repeat(400), false],
  ])('accepts a time only if it is recent: %s', (_name, value, isGood) => {
    const expected = isGood ? new Date(Number(value)) : null
    expect(parseProrationDate(value, now)).toEqual(expected)
  })
})
