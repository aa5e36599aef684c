import { describe, expect, it } from 'vitest'
import { parseLateWindows } from './refresh-token-options.ts'

const HOUR = 3600_000

describe('how long a used refresh token may come again', () => {
  it('is a day, and an hour for public clients', () => {
    expect(parseLateWindows({})).toEqual({ confidential: 24 * HOUR, public: HOUR })
  })

  it('can be set, also to the ten seconds alone', () => {
    const given = parseLateWindows({ repeatableFor: '2h', publicRepeatableFor: false })
    expect(given).toEqual({ confidential: 2 * HOUR, public: 0 })
  })

  it.each(['', '24', 'a day', 0, 9, -1, 1.5, '8d', Number.NaN])('refuses %s', (value) => {
    expect(() => parseLateWindows({ repeatableFor: value })).toThrow(/^repeatableFor: /)
    expect(() => parseLateWindows({ publicRepeatableFor: value })).toThrow(/^publicRepeatableFor: /)
  })
})
