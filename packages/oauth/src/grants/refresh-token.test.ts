import { describe, expect, it } from 'vitest'
import { parseLateRepeatWindows } from './refresh-token.ts'

const HOUR = 3600_000

describe('parseLateRepeatWindows(), which sets how long a refresh with a lost response may be repeated,', () => {
  it('defaults to 24 hours for confidential clients and 1 hour for public clients', () => {
    expect(parseLateRepeatWindows({})).toEqual({ confidential: 24 * HOUR, public: HOUR })
  })

  it('accepts a duration, or false to disable such repeats', () => {
    const given = parseLateRepeatWindows({ repeatableFor: '2h', publicRepeatableFor: false })
    expect(given).toEqual({ confidential: 2 * HOUR, public: 0 })
  })

  it.each(['', '24', 'a day', 0, 9, -1, 1.5, '8d', Number.NaN])(
    'rejects %j as a duration',
    (value) => {
      expect(() => parseLateRepeatWindows({ repeatableFor: value })).toThrow(/^repeatableFor: /)
      expect(() => parseLateRepeatWindows({ publicRepeatableFor: value })).toThrow(
        /^publicRepeatableFor: /,
      )
    },
  )
})
