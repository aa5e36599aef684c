import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Packer } from './packer.ts'

/** Few names and few values, so that many objects are nearly the same. */
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

it('gives back what it was given, field by field in order', () => {
  fc.assert(
    fc.property(objects, (values) => {
      const packer = new Packer<object>()
      const texts = values.map((value) => JSON.stringify(value))
      const packed = values.map((value) => packer.pack(value as object))
      for (const [at, each] of packed.entries()) {
        expect(JSON.stringify(packer.unpack(each))).toBe(texts[at])
      }
    }),
    { numRuns: 500 },
  )
})

it('tells what it holds from everything else', () => {
  fc.assert(
    fc.property(objects, (values) => {
      const packer = new Packer<object>()
      const packed = values.map((value) => packer.pack(value as object))
      for (const [at, each] of packed.entries()) {
        for (const other of values) {
          const same = JSON.stringify(other) === JSON.stringify(values[at])
          expect(packer.holds(each, other as object)).toBe(same)
        }
      }
    }),
    { numRuns: 500 },
  )
})

it('names the fields that differ, and what they were', () => {
  fc.assert(
    fc.property(objects, (values) => {
      const packer = new Packer<object>()
      for (const value of values) packer.pack(value as object)
      for (const one of values as Array<Record<string, unknown>>) {
        const packed = packer.pack(one)
        for (const other of values as Array<Record<string, unknown>>) {
          const found = packer.differing(packed, other)
          const wanted = [...new Set([...Object.keys(one), ...Object.keys(other)])]
            .filter((name) => JSON.stringify(own(one, name)) !== JSON.stringify(own(other, name)))
            .map((name) => [name, JSON.stringify(own(one, name))])
          expect(found.map(([name, was]) => [name, JSON.stringify(was)])).toEqual(wanted)
        }
      }
    }),
  )
})

function own(value: Record<string, unknown>, name: string): unknown {
  return Object.hasOwn(value, name) ? value[name] : undefined
}

it('takes what is undefined for not there, as JSON does', () => {
  const packer = new Packer<object>()
  const first = packer.pack({ a: 1, ours: undefined, b: { c: [2], ours: undefined } })
  expect(packer.pack({ a: 1, b: { c: [2] } })).toEqual(first)
  expect(packer.holds(first, { a: 1, b: { c: [2], other: undefined } })).toBe(true)
  expect(packer.unpack(first)).toEqual({ a: 1, b: { c: [2] } })
})

it('shares no object with what was packed or unpacked', () => {
  const packer = new Packer<{ list: unknown[]; inner: object | null }>()
  packer.pack({ list: [], inner: null })
  const given = { list: [{ n: 1 }], inner: { n: 1 } }
  const packed = packer.pack(given)
  given.inner.n = 2
  given.list.push({ n: 2 })
  const one = packer.unpack(packed)
  one.list.push(3)
  one.inner = null
  expect(packer.unpack(packed)).toEqual({ list: [{ n: 1 }], inner: { n: 1 } })
})

it('keeps only what differs', () => {
  const packer = new Packer<object>()
  const invoice = (id: string, total: number) => ({ id, paid: { at: null, by: 'card' }, total })
  packer.pack(invoice('in_1', 1))
  expect(packer.pack(invoice('in_2', 1))).toEqual([0, 0, 'in_2'])
  expect(packer.pack({ ...invoice('in_1', 7), paid: { at: 5, by: 'card' } })).toEqual([
    0, 2, 5, 4, 7,
  ])
})
