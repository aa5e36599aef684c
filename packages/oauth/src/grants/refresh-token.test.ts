import { describe, expect, it } from 'vitest'
import { parseLateWindows } from './refresh-token.ts'

const HOUR = 3600_000

describe('parseLateWindows', () => {
  it('defaults to 24 hours, and to 1 hour for public clients', () => {
    expect(parseLateWindows({})).toEqual({ confidential: 24 * HOUR, public: HOUR })
  })

  it('accepts a duration, or false to allow no late repeat', () => {
    const given = parseLateWindows({ repeatableFor: '2h', publicRepeatableFor: false })
    expect(given).toEqual({ confidential: 2 * HOUR, public: 0 })
  })

  it.each(['', '24', 'a day', 0, 9, -1, 1.5, '8d', Number.NaN])(
    'rejects the window %j',
    (value) => {
      expect(() => parseLateWindows({ repeatableFor: value })).toThrow(/^repeatableFor: /)
      expect(() => parseLateWindows({ publicRepeatableFor: value })).toThrow(
        /^publicRepeatableFor: /,
      )
    },
  )
})
