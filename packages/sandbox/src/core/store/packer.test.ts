import fc from 'fast-check'
import { expect, it } from 'vitest'
import { RowPacker } from './packer.ts'

/** Few names and few values, so that many generated objects are nearly equal. */
const { object } = fc.letrec((tie) => ({
  plain: fc.constantFrom(null, true, 0, -1, 1, 'a', 'ü\u2028"', ''),
  any: fc.oneof(
    { maxDepth: 3 },
    tie('plain'),
    tie('object'),
    fc.array(tie('any'), { maxLength: 3 }),
  ),
  object: fc.dictionary(fc.constantFrom('a', 'b', '7', '__proto__', 'toString'), tie('any')),
}))
const objects = fc.array(fc.oneof(object, fc.dictionary(fc.string(), fc.jsonValue())))

it('a packed object (stored as text) is unpacked to an equal object with fields in the same order', () => {
  fc.assert(
    fc.property(objects, (values) => {
      const packer = new RowPacker<object>()
      const texts = values.map((value) => JSON.stringify(value))
      const packed = values.map((value) => packer.toText(value as object))
      for (const [at, each] of packed.entries()) {
        expect(JSON.stringify(packer.fromText(each))).toBe(texts[at])
      }
    }),
    { numRuns: 500 },
  )
})

it('a packed object omits undefined fields, as JSON does', () => {
  const packer = new RowPacker<object>()
  const first = packer.toText({ a: 1, ours: undefined, b: { c: [2], ours: undefined } })
  expect(packer.toText({ a: 1, b: { c: [2] } })).toBe(first)
  expect(packer.fromText(first)).toEqual({ a: 1, b: { c: [2] } })
})

it('a packed object becomes a new object each time it is unpacked', () => {
  const packer = new RowPacker<{ list: unknown[]; inner: object | null }>()
  packer.toText({ list: [], inner: null })
  const given = { list: [{ n: 1 }], inner: { n: 1 } }
  const text = packer.toText(given)
  given.inner.n = 2
  given.list.push({ n: 2 })
  const one = packer.fromText(text)
  one.list.push(3)
  one.inner = null
  expect(packer.fromText(text)).toEqual({ list: [{ n: 1 }], inner: { n: 1 } })
})

it('a packed object contains only its differences from a sample object', () => {
  const packer = new RowPacker<object>()
  const invoice = (id: string, total: number) => ({ id, paid: { at: null, by: 'card' }, total })
  packer.toText(invoice('in_1', 1))
  expect(packer.toText(invoice('in_2', 1))).toBe('[0,0,"in_2"]')
  const changed = { ...invoice('in_1', 7), paid: { at: 5, by: 'card' } }
  expect(packer.toText(changed)).toBe('[0,2,5,4,7]')
})
