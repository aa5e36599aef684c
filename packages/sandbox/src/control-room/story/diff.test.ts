import fc from 'fast-check'
import { expect, it } from 'vitest'
import { diffObjects, undo } from './diff.ts'

it('names the single values that changed', () => {
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

it('finds no change only where there is none, and the same ones from both sides', () => {
  fc.assert(
    fc.property(json, json, (one, other) => {
      const changes = diffObjects(one, other)
      const same = JSON.stringify(sorted(one)) === JSON.stringify(sorted(other))
      // An empty object in place of another kind of value is a change of its own.
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

it('takes a change back by what Stripe says was there before', () => {
  const after = { status: 'active', trial: { end: 5, days: 1 }, items: [2] }
  expect(undo(after, { status: 'trialing', trial: { end: 4 }, items: [1] })).toEqual({
    status: 'trialing',
    trial: { end: 4, days: 1 },
    items: [1],
  })
})
