import fc from 'fast-check'
import { expect, it, vi } from 'vitest'
import type { NewestFirstRows } from './newest-first.ts'
import { RowPacker } from './packer.ts'
import { StoreTable } from './table.ts'

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

it('a table behaves like a Map with indexes and lists, however few rows stay unpacked', () => {
  fc.assert(
    fc.property(fc.array(action, { maxLength: 200 }), fc.nat(3), (actions, most) => {
      const table = new StoreTable<Row>()
      table.indexBy('owner', (row) => row.owner)
      table.indexBy('initial', (row) => initialOf(row.id), { fixed: true })
      table.columnBy('n', (row) => row.n)
      table.packBeyond(most)
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

function columnOf(table: StoreTable<Row>, name: 'n' | 'owner') {
  return table.columnBy(name, (row) => row[name])
}

function initialOf(id: string): string {
  return id < 'd' ? 'early' : 'late'
}

function expectSame(table: StoreTable<Row>, rows: Row[]): void {
  expect(table.size).toBe(rows.length)
  expect([...table.values()]).toEqual(rows)
  expect([...table.entries()]).toEqual(rows.map((row) => [row.id, row]))
  for (const owner of ['x', 'y']) {
    const found = table.findBy('owner', owner).map((row) => row.id)
    const wanted = rows.filter((row) => row.owner === owner).map((row) => row.id)
    expect(found.sort()).toEqual(wanted.sort())
  }
  for (const initial of ['early', 'late']) {
    const wanted = rows.filter((row) => initialOf(row.id) === initial)
    expect(table.findBy('initial', initial)).toEqual(wanted)
    expect(table.readBy('initial', initial)).toEqual(wanted)
  }
  const newest = [...rows].reverse()
  const odd = (row: Row) => row.n % 2 === 1
  expect([...table.newestFirst()]).toEqual(newest)
  const lists = [
    [newest, table.newestFirst()],
    [newest.filter(odd), table.newestFirst().filter(odd)],
    [newest.filter((row) => row.owner === 'x'), table.newestBy('owner', 'x')],
    [newest.filter((row) => initialOf(row.id) === 'late'), table.newestBy('initial', 'late')],
    [newest.filter(odd), table.newestAt(columnOf(table, 'n').where((n) => Number(n) % 2 === 1))],
    // One index is declared after the rows exist, and must follow later changes.
    [
      newest.filter((row) => row.owner === null),
      table.newestAt(columnOf(table, 'owner').where((owner) => owner === null)),
    ],
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

interface Timed {
  id: string
  at: number
  owner: string
  state: string
}

/** Creates a thousand packed rows of a hundred owners, two per second, every other one open. */
function openTimed() {
  const table = new StoreTable<Timed>()
  const unpack = vi.spyOn(RowPacker.prototype, 'fromText')
  table.indexBy('owner', (row) => row.owner, { fixed: true })
  table.indexBy('state', (row) => row.state)
  table.columnBy('at', (row) => row.at)
  table.packBeyond(0)
  for (let n = 0; n < 1000; n++) {
    const state = n % 2 === 0 ? 'open' : n < 20 ? 'rare' : 'paid'
    table.set(String(n), { id: String(n), at: Math.floor(n / 2), owner: `o${n % 100}`, state })
  }
  table.packOld()
  const count = (list: () => Iterable<Timed> | null, most = 1000) => {
    unpack.mockClear()
    const ids: string[] = []
    for (const { id } of list() ?? []) {
      ids.push(id)
      if (ids.length === most) break
    }
    return { ids, read: unpack.mock.calls.length }
  }
  return { table, count }
}

it('a table unpacks only the rows that a list returns', () => {
  const { table, count } = openTimed()
  const owned = count(() => table.newestBy('owner', 'o7'))
  expect(owned).toEqual({
    ids: [907, 807, 707, 607, 507, 407, 307, 207, 107, 7].map(String),
    read: 10,
  })
  const page = count(() => table.newestBy('owner', 'o7').after('407'), 2)
  expect(page).toEqual({ ids: ['307', '207'], read: 3 })
  expect(count(() => table.newestBy('state', 'rare')).read).toBe(10)
  // Half of all rows match; the others must not be unpacked.
  expect(count(() => table.newestBy('state', 'paid'), 100).read).toBe(100)
  expect(count(() => table.newestFirst().after('500'), 10).read).toBe(11)
})

it('a table filters rows by column values without unpacking the other rows', () => {
  const { table, count } = openTimed()
  const within = (list: NewestFirstRows<Timed>, from = 100, to = 102) =>
    count(() => list.where('at', (at) => Number(at) >= from && Number(at) <= to))
  const found = within(table.newestFirst())
  expect(found).toEqual({ ids: ['205', '204', '203', '202', '201', '200'], read: 6 })
  expect(within(table.newestBy('owner', 'o1')).ids).toEqual(['201'])
  table.delete('203')
  expect(within(table.newestFirst()).ids).toEqual(['205', '204', '202', '201', '200'])
  expect(within(table.newestFirst(), 2000, 3000)).toEqual({ ids: [], read: 0 })
  // With several clocks, rows are not always added in the order of their times.
  table.set('late', { id: 'late', at: 101, owner: 'o1', state: 'paid' })
  expect(within(table.newestFirst()).ids).toEqual(['late', '205', '204', '202', '201', '200'])
  // Without a column, every row is unpacked.
  const owned = table.newestFirst().where('owner', (owner) => owner === 'o7')
  expect(count(() => owned).ids).toHaveLength(10)
})

it('a table finds every key on the first lookup, after rows were added and deleted without lookups', () => {
  const table = new StoreTable<{ n: number }>()
  const column = table.columnBy('n', ({ n }) => n)
  table.packBeyond(0)
  for (let n = 0; n < 300; n++) {
    table.add(String(n), { n })
    const count = table.size
    if (n % 3 !== 0) table.deleteOldest(() => table.size === count)
    table.packOld()
  }
  expect(Array.from(table.values(), ({ n }) => n)).toEqual(
    Array.from({ length: 100 }, (_, n) => 200 + n),
  )
  expect(['199', '200', '299'].map((key) => table.get(key)?.n)).toEqual([undefined, 200, 299])
  expect(['200', '299'].map((key) => column.at(table.placeOf(key) ?? -1))).toEqual([200, 299])
})

it('a table can be iterated while rows are deleted and gaps are closed', () => {
  const table = new StoreTable<{ n: number }>()
  for (let n = 0; n < 500; n++) table.set(String(n), { n })
  const seen: number[] = []
  for (const [key, { n }] of table.entries()) {
    seen.push(n)
    table.delete(key)
  }
  expect(seen).toEqual(Array.from({ length: 500 }, (_, n) => n))
  expect(table.size).toBe(0)
})

it('a table compacts its packed texts when rows are unpacked and packed repeatedly', () => {
  const table = new StoreTable<{ id: string; text: string }>()
  table.packBeyond(0)
  const ids = Array.from({ length: 200 }, (_, n) => String(n))
  for (const id of ids) table.set(id, { id, text: id.padStart(20_000) })
  for (let round = 0; round < 20; round++) {
    // One text stays on each page, so the page cannot be freed.
    for (const [n, id] of ids.entries()) if (n % 50 !== round) table.get(id)
    table.packOld()
  }
  expect([...table.values()].map(({ id, text }) => [id, text.trim()])).toEqual(
    ids.map((id) => [id, id]),
  )
})
