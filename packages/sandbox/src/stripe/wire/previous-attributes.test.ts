import fc from 'fast-check'
import { expect, it } from 'vitest'
import { findPreviousAttributes } from './previous-attributes.ts'

it.each([
  ['no change as null', { a: 1, b: { c: [1, { d: 2 }] } }, { a: 1, b: { c: [1, { d: 2 }] } }, null],
  ['a changed value', { a: 1, b: 2 }, { a: 1, b: 3 }, { b: 2 }],
  [
    'only the changed field of a nested object',
    { a: { b: 1, c: 2 } },
    { a: { b: 1, c: 3 } },
    { a: { c: 2 } },
  ],
  ['a changed list as a whole', { a: [1, { b: 2 }] }, { a: [1, { b: 3 }] }, { a: [1, { b: 2 }] }],
  ['a longer list', { a: [1] }, { a: [1, 2] }, { a: [1] }],
  ['null where there is an object now', { a: null }, { a: { b: 1 } }, { a: null }],
  ['the object where there is null now', { a: { b: 1 } }, { a: null }, { a: { b: 1 } }],
  ['null for a new field', { a: 1 }, { a: 1, b: 2 }, { b: null }],
  ['the value of a removed field', { a: 1, b: 2 }, { a: 1 }, { b: 2 }],
  ['no change of the order of fields', { a: 1, b: 2 }, { b: 2, a: 1 }, null],
  ['no change for an undefined field', { a: 1, $: undefined }, { a: 1 }, null],
  ['null for a field that was undefined', { a: undefined, b: 1 }, { a: 2, b: 1 }, { a: null }],
  [
    'null for a new field with an inherited name',
    { a: 1 },
    { a: 1, toString: 'b' },
    { toString: null },
  ],
])('findPreviousAttributes() returns %s', (_what, before, after, told) => {
  expect(findPreviousAttributes(before, after)).toEqual(told)
})

it('findPreviousAttributes() returns a result if and only if the two objects differ', () => {
  const any = fc.object({ key: fc.constantFrom('a', 'b', 'c'), values: [fc.constantFrom(1, 'x')] })
  fc.assert(
    fc.property(any, any, (before, after) => {
      let isSame = true
      try {
        expect(after).toEqual(before)
      } catch {
        isSame = false
      }
      expect(findPreviousAttributes(before, after) === null).toBe(isSame)
    }),
    { numRuns: 500 },
  )
})
