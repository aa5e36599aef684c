import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { deriveKey, deriveMacKey, hmac, randomSecret, timeOrderedId } from './crypto.ts'

describe('hmac', () => {
  const TEXTS = ['', 'a', 'Zoë 漢字 🎟️', 'x'.repeat(63), 'x'.repeat(2048), 'ö'.repeat(1500)]

  it.each(TEXTS.map((text) => [text.length, text]))('is HMAC-SHA-256: %i characters', (_, text) => {
    const expected = createHmac('sha256', deriveKey('a secret', 'tests')).update(text)
    expect(hmac(deriveMacKey('a secret', 'tests'), text)).toBe(expected.digest('base64url'))
  })

  it('leaves nothing of one text in the next', () => {
    const key = deriveMacKey('a secret', 'tests')
    const before = hmac(key, 'short')
    hmac(key, 'a much longer text')
    expect(hmac(key, 'short')).toBe(before)
  })
})

describe('randomSecret', () => {
  it('never gives the same twice, also when the pool is filled anew', () => {
    const secrets = Array.from({ length: 1000 }, randomSecret)
    expect(new Set(secrets).size).toBe(1000)
    expect(secrets.every((secret) => /^[\w-]{43}$/.test(secret))).toBe(true)
  })
})

describe('timeOrderedId', () => {
  it('is a version 7 UUID in the order of time', () => {
    const ids = [1, 2, 1_700_000_000_000, 1_700_000_000_001].map((ms) =>
      timeOrderedId(new Date(ms)),
    )
    for (const id of ids)
      expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
    expect([...ids].sort()).toEqual(ids)
    expect(timeOrderedId(new Date(2))).not.toBe(ids[1])
  })
})
