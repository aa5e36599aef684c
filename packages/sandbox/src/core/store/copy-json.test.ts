import fc from 'fast-check'
import { expect, it } from 'vitest'
import { copyJson } from './copy-json.ts'

it('copyJson() copies any JSON value exactly as JSON.parse(JSON.stringify()) does', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value)
      expect(JSON.stringify(copyJson(value))).toBe(text)
    }),
  )
  const text = '{"__proto__":{"polluted":true},"constructor":1,"a":[null,{"b":[]}]}'
  const copied = copyJson(JSON.parse(text) as Record<string, unknown>)
  expect(JSON.stringify(copied)).toBe(text)
  expect(Object.getPrototypeOf(copied)).toBe(Object.prototype)
  expect(copyJson({ sent: 1, ours: undefined })).toStrictEqual({ sent: 1 })
})

it('copyJson() returns a copy that shares no object with the original', () => {
  const original = { list: [{ n: 1 }], inner: { n: 1 } }
  const copied = copyJson(original)
  copied.inner.n = 2
  const [first] = copied.list
  if (first) first.n = 2
  expect(original).toEqual({ list: [{ n: 1 }], inner: { n: 1 } })
})
