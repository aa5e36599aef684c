import { describe, expect, it } from 'vitest'
import { parseLateRepeatWindows } from './refresh-token.ts'

const HOUR = 3600_000

describe('parseLateRepeatWindows', () => {
  it('lets confidential clients repeat a refresh for 24 hours by default, and public clients for 1 hour', () => {
    expect(parseLateRepeatWindows({})).toEqual({ confidential: 24 * HOUR, public: HOUR })
  })

  it('accepts a duration, or false if no late repeat is allowed', () => {
    const given = parseLateRepeatWindows({ repeatableFor: '2h', publicRepeatableFor: false })
    expect(given).toEqual({ confidential: 2 * HOUR, public: 0 })
  })

  it.each(['', '24', 'a day', 0, 9, -1, 1.5, '8d', Number.NaN])(
    'rejects %j as the time in which a refresh may be repeated late',
    (value) => {
      expect(() => parseLateRepeatWindows({ repeatableFor: value })).toThrow(/^repeatableFor: /)
      expect(() => parseLateRepeatWindows({ publicRepeatableFor: value })).toThrow(
        /^publicRepeatableFor: /,
      )
    },
  )
})
