import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import {
  computeHmac,
  createRandomSecret,
  createTimeOrderedId,
  deriveKey,
  deriveMacKey,
} from './crypto.ts'

describe('computeHmac()', () => {
  const TEXTS = ['', 'a', 'Zoë 漢字 🎟️', 'x'.repeat(63), 'x'.repeat(2048), 'ö'.repeat(1500)]

  it.each(TEXTS.map((text) => [text.length, text]))(
    'returns the same HMAC-SHA-256 as node:crypto for a text of %i characters',
    (_, text) => {
      const expected = createHmac('sha256', deriveKey('a secret', 'tests')).update(text)
      expect(computeHmac(deriveMacKey('a secret', 'tests'), text)).toBe(
        expected.digest('base64url'),
      )
    },
  )

  it('returns the right result for a short text after a longer text used the same buffer', () => {
    const key = deriveMacKey('a secret', 'tests')
    const before = computeHmac(key, 'short')
    computeHmac(key, 'a much longer text')
    expect(computeHmac(key, 'short')).toBe(before)
  })
})

describe('createRandomSecret()', () => {
  it('never returns the same value twice, even after its pool of random bytes was refilled', () => {
    const secrets = Array.from({ length: 1000 }, createRandomSecret)
    expect(new Set(secrets).size).toBe(1000)
    expect(secrets.every((secret) => /^[\w-]{43}$/.test(secret))).toBe(true)
  })
})

describe('createTimeOrderedId()', () => {
  it('returns version 7 UUIDs that sort by creation time', () => {
    const ids = [1, 2, 1_700_000_000_000, 1_700_000_000_001].map((ms) =>
      createTimeOrderedId(new Date(ms)),
    )
    for (const id of ids)
      expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
    expect([...ids].sort()).toEqual(ids)
    expect(createTimeOrderedId(new Date(2))).not.toBe(ids[1])
  })
})
