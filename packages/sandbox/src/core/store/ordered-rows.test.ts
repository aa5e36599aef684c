import fc from 'fast-check'
import { expect, it } from 'vitest'
import { OrderedRows } from './ordered-rows.ts'

const action = fc.record({
  key: fc.nat(120).map(String),
  value: fc.option(fc.nat()),
  takesOldest: fc.boolean(),
})

it('is a Map that knows places, through any order of setting and deleting', () => {
  fc.assert(
    fc.property(fc.array(action, { maxLength: 400 }), (actions) => {
      const rows = new OrderedRows<number>()
      const model = new Map<string, number>()
      for (const { key, value, takesOldest } of actions) {
        if (value === null && takesOldest) {
          const [oldest = ''] = model.keys()
          rows.deleteOldest()
          model.delete(oldest)
        } else if (value === null) {
          rows.delete(key)
          model.delete(key)
        } else {
          expect(rows.get(key)).toBe(model.get(key))
          const place = rows.placeOf(key)
          if (place === undefined) rows.add(key, value)
          else rows.setAt(place, value)
          model.set(key, value)
        }
        expect(rows.oldest()).toEqual(model.entries().next().value)
      }
      expect(rows.size).toBe(model.size)
      expect([...rows.entries()]).toEqual([...model])
      const places = [...model.keys()].map((key) => rows.placeOf(key) ?? -1)
      expect(places).toEqual([...places].sort((a, b) => a - b))
      expect(places.map((place) => [rows.keyAt(place), rows.at(place)])).toEqual([...model])
    }),
  )
})

it('takes in and lets go without being asked for a key, and knows them all when it is', () => {
  const rows = new OrderedRows<number>()
  for (let n = 0; n < 300; n++) {
    rows.add(String(n), n)
    if (n % 3 !== 0) rows.deleteOldest()
  }
  expect(rows.size).toBe(100)
  expect([...rows.entries()].map(([, n]) => n)).toEqual(
    Array.from({ length: 100 }, (_, n) => 200 + n),
  )
  expect([rows.get('199'), rows.get('200'), rows.get('299')]).toEqual([undefined, 200, 299])
  rows.setAt(rows.placeOf('200') ?? -1, -1)
  expect(rows.oldest()).toEqual(['200', -1])
})

it('can be walked through while rows are deleted and it tidies', () => {
  const rows = new OrderedRows<number>()
  for (let n = 0; n < 500; n++) rows.add(String(n), n)
  const seen: number[] = []
  for (const [key, value] of rows.entries()) {
    seen.push(value)
    rows.delete(key)
  }
  expect(seen).toEqual(Array.from({ length: 500 }, (_, n) => n))
  expect([rows.size, rows.oldest()]).toEqual([0, undefined])
})
