import fc from 'fast-check'
import { expect, it } from 'vitest'
import { diffObjects, undoChanges } from './diff.ts'

it('the comparison of two objects lists each value that changed', () => {
  const before = { status: 'active', items: { data: [{ id: 'si_1', quantity: 1 }] }, gone: 1 }
  const after = { status: 'past_due', items: { data: [{ id: 'si_1', quantity: 2 }] }, added: [] }
  expect(diffObjects(before, after)).toEqual([
    { path: 'status', before: 'active', after: 'past_due' },
    { path: 'items.data.0.quantity', before: 1, after: 2 },
    { path: 'gone', before: 1, after: undefined },
    { path: 'added', before: undefined, after: [] },
  ])
})

const json = fc.dictionary(
  fc.constantFrom('a', 'b', 'c'),
  fc.oneof(
    fc.integer(),
    fc.array(fc.integer(), { maxLength: 2 }),
    fc.dictionary(fc.constantFrom('x', 'y'), fc.integer()),
  ),
)

it('the comparison of two objects lists nothing if they are equal, and the same paths if they are swapped', () => {
  fc.assert(
    fc.property(json, json, (one, other) => {
      const changes = diffObjects(one, other)
      const same = JSON.stringify(sorted(one)) === JSON.stringify(sorted(other))
      // An empty object that replaces a value of another kind is a change too.
      if (same) expect(changes).toEqual([])
      else expect(changes).not.toEqual([])
      const back = diffObjects(other, one).map(({ path, before, after }) => ({
        path,
        before: after,
        after: before,
      }))
      expect(new Set(back.map((each) => JSON.stringify(each)))).toEqual(
        new Set(changes.map((each) => JSON.stringify(each))),
      )
    }),
  )
})

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([name, inner]) => [name, sorted(inner)]))
}

it('the previous object can be restored from the previous_attributes of an event', () => {
  const after = { status: 'active', trial: { end: 5, days: 1 }, items: [2] }
  expect(undoChanges(after, { status: 'trialing', trial: { end: 4 }, items: [1] })).toEqual({
    status: 'trialing',
    trial: { end: 4, days: 1 },
    items: [1],
  })
})
