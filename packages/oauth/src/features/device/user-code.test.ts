import { describe, expect, it } from 'vitest'
import { createUserCode, parseUserCode } from './user-code.ts'

describe('user codes of the device flow', () => {
  it('contain no letters that look alike, and no vowels that could form words', () => {
    const letters = new Set(Array.from({ length: 500 }, createUserCode).join(''))
    expect([...letters].sort().join('')).toBe('-BCDFGHJKLMNPQRSTVWXZ')
  })

  it.each(['WDJB-MJHT', 'wdjbmjht', ' wdjb mjht ', 'w.d.j.b m-j-h-t', 'WDJB\u2013MJHT'])(
    'can be typed as %j',
    (text) => {
      expect(parseUserCode(text)).toBe('WDJB-MJHT')
    },
  )

  it.each(['', 'WDJB-MJH', 'WDJB-MJHTT', 'WDJB-MJH0', 'AEIO-UAEI', '____-____'])(
    'are rejected when typed as %j',
    (text) => {
      expect(parseUserCode(text)).toBeNull()
    },
  )
})
