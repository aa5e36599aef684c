import { describe, expect, it } from 'vitest'
import { parseLifetime, parseSeconds, secondsUntil } from './lifetimes.ts'

const now = new Date('2026-01-01T00:00:00.900Z')

describe('parseSeconds', () => {
  it.each([
    [1, 1],
    [3600, 3600],
    ['90s', 90],
    ['5m', 300],
    ['2h', 7200],
    ['15d', 1_296_000],
    ['2w', 1_209_600],
    ['1y', 31_536_000],
    ['100y', 3_153_600_000],
  ])('parses %j as %i seconds', (lifetime, seconds) => {
    expect(parseSeconds('option', lifetime)).toBe(seconds)
  })

  it.each([
    0,
    -1,
    1.5,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    3_153_600_001,
    '',
    '15',
    'd',
    '15 d',
    '-1d',
    '1.5d',
    '0d',
    '15D',
    '15days',
    '101y',
    '1e3s',
  ])('rejects %j with a message that names the option', (lifetime) => {
    expect(() => parseSeconds('option', lifetime)).toThrow(/^option: /)
  })
})

describe('parseLifetime', () => {
  it.each([
    ['15d', '2026-01-16T00:00:00.000Z'],
    [60, '2026-01-01T00:01:00.000Z'],
    [() => new Date('2026-02-01T00:00:00.500Z'), '2026-02-01T00:00:00.000Z'],
  ])('rounds the expiry down to a whole second for the lifetime %s', (lifetime, expiry) => {
    expect(parseLifetime('option', lifetime)(now).toISOString()).toBe(expiry)
  })

  it.each([
    ['the past', () => new Date(0)],
    ['now', () => now],
    ['an invalid date', () => new Date(Number.NaN)],
    ['a number', () => 7 as unknown as Date],
    ['more than 100 years', () => new Date(now.getTime() + 3_153_600_001_000)],
    ['the largest possible date', () => new Date(8.64e15)],
  ])('throws when a lifetime function returns %s', (_what, lifetime) => {
    const expiresAt = parseLifetime('option', lifetime)
    expect(() => expiresAt(now)).toThrow(/^option\(\) must return a Date in the future/)
  })
})

describe('secondsUntil', () => {
  it.each([
    [60_000, 60],
    [59_001, 60],
    [0, 0],
    [-5000, 0],
  ])('converts a date %i ms from now to %i seconds', (ms, seconds) => {
    expect(secondsUntil(new Date(now.getTime() + ms), { now: () => now })).toBe(seconds)
  })
})
