import { describe, expect, it } from 'vitest'
import { newUserCode, parseUserCode } from './user-code.ts'

describe('a user code', () => {
  it('has no letter that looks like another, and no vowel that makes a word', () => {
    const letters = new Set(Array.from({ length: 500 }, newUserCode).join(''))
    expect([...letters].sort().join('')).toBe('-BCDFGHJKLMNPQRSTVWXZ')
  })

  it.each(['WDJB-MJHT', 'wdjbmjht', ' wdjb mjht ', 'w.d.j.b m-j-h-t', 'WDJB\u2013MJHT'])(
    'may be written %j',
    (text) => {
      expect(parseUserCode(text)).toBe('WDJB-MJHT')
    },
  )

  it.each(['', 'WDJB-MJH', 'WDJB-MJHTT', 'WDJB-MJH0', 'AEIO-UAEI', '____-____'])(
    'is not %j',
    (text) => {
      expect(parseUserCode(text)).toBeNull()
    },
  )
})
