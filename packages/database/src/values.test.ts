import { describe, expect, it } from 'vitest'
import { toJsonRows, toStorable } from './values.ts'

describe('toStorable()', () => {
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
  ])('rejects %s and explains why', (value, reason) => {
    expect(() => toStorable(value)).toThrow(reason)
    expect(() => toStorable(value)).toThrow(TypeError)
  })
})

describe('toJsonRows()', () => {
  it.each([
    ['text', 'text'],
    ['"quoted" and \\u0000 spelled out', '"quoted" and \\u0000 spelled out'],
    ['\u001f', '\u001f'],
    ['😀', '😀'],
    [-1.5, -1.5],
    [null, null],
    [true, 1],
    [10n, '10'],
  ])('writes %s as %s', (value, written) => {
    const rows = [{ value: 1 }, { value }]
    expect(JSON.parse(toJsonRows(rows))).toEqual([{ value: 1 }, { value: written }])
  })

  it.each([
    [undefined, /undefined/],
    [Number.NaN, /NaN/],
    [new Date(), /getTime/],
    [[], /object/],
    [new Uint8Array(1), /Bytes/],
    ['\0', /NUL/],
    ['\udc00', /surrogate/],
  ])('rejects %s and explains why', (value, reason) => {
    expect(() => toJsonRows([{ value: 1 }, { value }])).toThrow(reason)
  })
})
