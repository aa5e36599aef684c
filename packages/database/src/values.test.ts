import { describe, expect, it } from 'vitest'
import { toStorable } from './values.ts'

describe('toStorable', () => {
  it.each([
    ['text', 'text'],
    ['', ''],
    ['😀', '😀'],
    [0, 0],
    [-1.5, -1.5],
    [10n, 10n],
    [null, null],
    [true, 1],
    [false, 0],
  ])('stores %s as %s', (value, stored) => {
    expect(toStorable(value)).toBe(stored)
  })

  it('stores bytes as a view on the same memory', () => {
    const bytes = new Uint8Array([1, 2, 3, 4]).subarray(1, 3)
    expect(toStorable(bytes)).toEqual(Buffer.from([2, 3]))
  })

  it.each([
    [undefined, /undefined/],
    [Number.NaN, /NaN/],
    [Number.POSITIVE_INFINITY, /Infinity/],
    [new Date(), /getTime/],
    [{}, /object/],
    [[], /object/],
    [() => 1, /function/],
    [Symbol('x'), /symbol/],
    ['\0', /NUL/],
    ['\udc00', /surrogate/],
  ])('refuses %s and says why', (value, reason) => {
    expect(() => toStorable(value)).toThrow(reason)
    expect(() => toStorable(value)).toThrow(TypeError)
  })
})
