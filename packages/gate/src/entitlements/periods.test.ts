import { describe, expect, it } from 'vitest'
import { choosePeriod } from './periods.ts'

const day = (text: string) => new Date(`2026-${text}T00:00:00Z`)
const period = (from: string, to: string) => ({ startsAt: day(from), endsAt: day(to) })
const march = period('03-10', '04-10')

describe('the period in which use counts', () => {
  it.each([
    ['is the first one that is known', null, march, '03-15', march],
    [
      'is the next one after a renewal',
      march,
      period('04-10', '05-10'),
      '04-11',
      period('04-10', '05-10'),
    ],
    [
      'counts on after a swap to a longer period, until the earlier one ends',
      march,
      { startsAt: day('03-20'), endsAt: new Date('2027-03-20T00:00:00Z') },
      '03-21',
      march,
    ],
    [
      'starts over in the longer period when the earlier one would have ended',
      march,
      period('03-20', '09-20'),
      '04-10',
      period('04-10', '09-20'),
    ],
    [
      'counts on after a swap to a shorter period, until that ends',
      period('01-01', '12-31'),
      period('03-20', '04-20'),
      '03-21',
      period('01-01', '04-20'),
    ],
    [
      'starts over when the shorter period has ended',
      period('01-01', '04-20'),
      period('04-20', '05-20'),
      '04-20',
      period('04-20', '05-20'),
    ],
    [
      'becomes longer with a trial',
      march,
      period('03-10', '05-10'),
      '03-15',
      period('03-10', '05-10'),
    ],
    [
      'is not moved back by an outdated subscription',
      march,
      period('02-10', '03-20'),
      '03-15',
      march,
    ],
    [
      'starts over by the clock if a renewal was not announced yet',
      march,
      march,
      '04-11',
      // March has 31 days.
      period('04-10', '05-11'),
    ],
    [
      'keeps its start when the renewal is announced',
      period('04-10', '05-11'),
      period('04-10', '05-10'),
      '04-12',
      period('04-10', '05-10'),
    ],
    ['is none before it begins', null, march, '03-01', null],
  ])('%s', (_, stored, current, now, expected) => {
    expect(choosePeriod(stored, current, day(now))).toEqual(expected)
  })

  it('has begun although the clock of the provider is a minute ahead', () => {
    expect(choosePeriod(null, march, new Date(march.startsAt.getTime() - 60_000))).toEqual(march)
  })

  it('lasts until more is known when no renewal was announced for longer than a period', () => {
    const found = choosePeriod(null, march, day('06-15'))
    expect(found?.startsAt).toEqual(day('04-10'))
    expect(found && found.endsAt > day('06-15')).toBe(true)
  })
})
