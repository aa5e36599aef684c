import fc from 'fast-check'
import { expect, it } from 'vitest'
import { changes } from './changes.ts'

it.each([
  ['nothing', { a: 1, b: { c: [1, { d: 2 }] } }, { a: 1, b: { c: [1, { d: 2 }] } }, null],
  ['a value', { a: 1, b: 2 }, { a: 1, b: 3 }, { b: 2 }],
  ['a field of an object', { a: { b: 1, c: 2 } }, { a: { b: 1, c: 3 } }, { a: { c: 2 } }],
  ['a list, which is told whole', { a: [1, { b: 2 }] }, { a: [1, { b: 3 }] }, { a: [1, { b: 2 }] }],
  ['a longer list', { a: [1] }, { a: [1, 2] }, { a: [1] }],
  ['an object that was null', { a: null }, { a: { b: 1 } }, { a: null }],
  ['an object that is null', { a: { b: 1 } }, { a: null }, { a: { b: 1 } }],
  ['a new field, which was null', { a: 1 }, { a: 1, b: 2 }, { b: null }],
  ['a field that is gone', { a: 1, b: 2 }, { a: 1 }, { b: 2 }],
  ['the order, which is nothing', { a: 1, b: 2 }, { b: 2, a: 1 }, null],
  ['what is undefined, which is not there', { a: 1, $: undefined }, { a: 1 }, null],
  ['a place that is filled', { a: undefined, b: 1 }, { a: 2, b: 1 }, { a: null }],
  ['a name that all objects have', { a: 1 }, { a: 1, toString: 'b' }, { toString: null }],
])('tells of %s', (_what, before, after, told) => {
  expect(changes(before, after)).toEqual(told)
})

it('tells of something when, and only when, two objects differ', () => {
  const any = fc.object({ key: fc.constantFrom('a', 'b', 'c'), values: [fc.constantFrom(1, 'x')] })
  fc.assert(
    fc.property(any, any, (before, after) => {
      let isSame = true
      try {
        expect(after).toEqual(before)
      } catch {
        isSame = false
      }
      expect(changes(before, after) === null).toBe(isSame)
    }),
    { numRuns: 500 },
  )
})
