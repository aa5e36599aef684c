import { expect, it } from 'vitest'
import { applyRowChanges, diffRows } from './row-changes.ts'

it.each([
  ['a changed value', { a: 1 }, { a: 2 }, { a: 1, b: 3 }, { a: 2, b: 3 }],
  ['no change', { a: 1 }, { a: 1 }, { a: 5 }, { a: 5 }],
  ['a new field', {}, { a: null }, { b: 3 }, { a: null, b: 3 }],
  ['a removed field', { a: 1 }, {}, { a: 4, b: 3 }, { b: 3 }],
  [
    'a changed key of a map',
    { m: { a: '1' } },
    { m: { a: '2' } },
    { m: { c: '3' } },
    { m: { a: '2', c: '3' } },
  ],
  ['an added id', { d: ['x'] }, { d: ['x', 'y'] }, { d: ['z'] }, { d: ['z', 'y'] }],
  ['a removed id', { d: ['x'] }, { d: [] }, { d: ['x', 'z'] }, { d: ['z'] }],
  ['a changed list of objects', { l: [{ a: 1 }] }, { l: [{ a: 2 }] }, { l: [] }, { l: [{ a: 2 }] }],
])(
  'the differences between two rows can be applied to a third row: %s',
  (_what, before, after, target, wanted) => {
    const changes = JSON.parse(JSON.stringify(diffRows(before, after)))
    const row = structuredClone(target)
    applyRowChanges(row, changes)
    expect(row).toEqual(wanted)
  },
)

it('the differences between two rows replace nested objects and never change them in place, so that earlier events keep their values', () => {
  const row = { m: { a: '1', n: { b: '1' } } }
  const told = { ...row }
  applyRowChanges(row, diffRows(row, { m: { a: '1', n: { b: '2' } } }))
  expect([row.m.n.b, told.m.n.b]).toEqual(['2', '1'])
})
