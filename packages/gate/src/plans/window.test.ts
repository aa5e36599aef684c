import { describe, expect, it } from 'vitest'
import { findWindow } from './window.ts'

const at = (text: string) => new Date(text)
const PERIOD = { startsAt: at('2026-01-31T10:00:00Z'), endsAt: at('2026-02-28T10:00:00Z') }

describe('findWindow()', () => {
  it.each([
    ['minute', '2026-03-15T12:34:56Z', '2026-03-15T12:34:00Z', '2026-03-15T12:35:00Z'],
    ['hour', '2026-03-15T12:34:56Z', '2026-03-15T12:00:00Z', '2026-03-15T13:00:00Z'],
    ['day', '2026-03-15T23:59:59.999Z', '2026-03-15T00:00:00Z', '2026-03-16T00:00:00Z'],
    ['month', '2026-12-31T23:59:59.999Z', '2026-12-01T00:00:00Z', '2027-01-01T00:00:00Z'],
    ['month', '2028-02-29T00:00:00Z', '2028-02-01T00:00:00Z', '2028-03-01T00:00:00Z'],
  ] as const)(
    'returns, for a quota per %s at %s, the window from %s to %s',
    (interval, now, startsAt, endsAt) => {
      expect(findWindow(interval, at(now), null)).toEqual({
        startsAt: at(startsAt),
        endsAt: at(endsAt),
      })
    },
  )

  it('returns the billing period for a quota per period, or the calendar month if the time is outside of the billing period', () => {
    expect(findWindow('period', at('2026-02-10T00:00:00Z'), PERIOD)).toEqual(PERIOD)
    expect(findWindow('period', at('2026-02-28T10:00:00Z'), PERIOD)).toEqual({
      startsAt: at('2026-02-01T00:00:00Z'),
      endsAt: at('2026-03-01T00:00:00Z'),
    })
    expect(findWindow('period', at('2026-02-10T00:00:00Z'), null).startsAt).toEqual(
      at('2026-02-01T00:00:00Z'),
    )
  })

  it('returns a window without an end for a gauge', () => {
    const window = findWindow(null, at('2026-02-10T00:00:00Z'), null)
    expect(window.startsAt.getTime()).toBe(0)
    expect(window.endsAt.getUTCFullYear()).toBe(9999)
  })
})
