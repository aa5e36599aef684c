import { describe, expect, it } from 'vitest'
import { namesOfKey, orderOfKey, requestKeyOf } from './order-key.ts'

const key = (length: number) => 'k'.repeat(length)
const HASH = /^[0-9a-f]{64}$/

describe('a key', () => {
  it.each([
    ['an order', 127, '', orderOfKey(key(127)), key(127)],
    ['an order', 128, '', orderOfKey(key(128)), HASH],
    ['a refund', 120, 'refund:', orderOfKey(key(120), 'refund:'), `refund:${key(120)}`],
    ['a refund', 121, 'refund:', orderOfKey(key(121), 'refund:'), HASH],
    ['a request', 255, '', requestKeyOf(key(255), 0), key(255)],
    ['a request after a decline', 253, '', requestKeyOf(key(253), 1), `${key(253)}:1`],
    ['a request after a decline', 254, '', requestKeyOf(key(254), 1).replace(/:1$/, ''), HASH],
    ['a request after two', 17, '', requestKeyOf(key(17), 2), `${key(17)}:2`],
    ['a refund’s', 248, 'refund:', requestKeyOf(key(248), 0, 'refund:'), `refund:${key(248)}`],
    ['a refund’s', 249, 'refund:', requestKeyOf(key(249), 0, 'refund:'), HASH],
  ])('in the name of %s: %i letters', (_what, length, prefix, name, expected) => {
    if (typeof expected === 'string') expect(name).toBe(expected)
    else {
      expect(name.startsWith(prefix)).toBe(true)
      expect(name.slice(prefix.length)).toMatch(expected)
      expect(namesOfKey(key(length))).toContain(name.slice(prefix.length))
    }
  })
})
