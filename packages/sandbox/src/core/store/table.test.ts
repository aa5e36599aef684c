import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Packer } from './packer.ts'
import { Table } from './table.ts'

interface Row {
  id: string
  owner: string | null
  n: number
}

const key = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l')
const owner = fc.option(fc.constantFrom('x', 'y'))
const action = fc.oneof(
  fc.record({ do: fc.constant('set' as const), key, owner, n: fc.nat(3) }),
  fc.record({ do: fc.constant('change' as const), key, owner, n: fc.nat(3) }),
  fc.record({ do: fc.constant('delete' as const), key }),
  fc.record({ do: fc.constant('between steps' as const) }),
)

it('is a Map with indexes and lists, however few rows stay unpacked', () => {
  fc.assert(
    fc.property(fc.array(action, { maxLength: 200 }), fc.nat(3), (actions, most) => {
      const table = new Table<Row>()
      table.indexBy('owner', (row) => row.owner)
      table.packBeyond(most, new Packer())
      const model = new Map<string, Row>()
      for (const step of actions) {
        if (step.do === 'between steps') table.packOld()
        else if (step.do === 'delete') {
          table.delete(step.key)
          model.delete(step.key)
        } else if (step.do === 'set') {
          table.set(step.key, { id: step.key, owner: step.owner, n: step.n })
          model.set(step.key, { id: step.key, owner: step.owner, n: step.n })
        } else {
          const row = table.get(step.key)
          expect(row).toEqual(model.get(step.key))
          if (!row) continue
          Object.assign(row, { owner: step.owner, n: step.n })
          expect(table.get(step.key)).toBe(row)
          table.set(step.key, row)
          model.set(step.key, { ...row })
        }
        expectSame(table, [...model.values()])
      }
    }),
  )
})

function expectSame(table: Table<Row>, rows: Row[]): void {
  expect(table.size).toBe(rows.length)
  expect([...table.values()]).toEqual(rows)
  expect([...table.entries()]).toEqual(rows.map((row) => [row.id, row]))
  for (const owner of ['x', 'y']) {
    const found = table.findBy('owner', owner).map((row) => row.id)
    const wanted = rows.filter((row) => row.owner === owner).map((row) => row.id)
    expect(found.sort()).toEqual(wanted.sort())
  }
  const newest = [...rows].reverse()
  const odd = (row: Row) => row.n % 2 === 1
  expect([...table.newestFirst()]).toEqual(newest)
  const lists = [
    [newest, table.newestFirst()],
    [newest.filter(odd), table.newestFirst().filter(odd)],
    [newest.filter((row) => row.owner === 'x'), table.newestBy('owner', 'x')],
  ] as const
  for (const [list, read] of lists) {
    expect([...read]).toEqual(list)
    for (const id of ['a', 'b', 'c']) {
      const at = list.findIndex((row) => row.id === id)
      const [after, before] = [read.after(id), read.before(id)]
      expect(after && [...after]).toEqual(at < 0 ? null : list.slice(at + 1))
      expect(before && [...before]).toEqual(at < 0 ? null : list.slice(0, at).reverse())
    }
  }
}
