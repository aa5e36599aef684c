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
      table.indexBy('initial', (row) => initialOf(row.id), { fixed: true })
      table.timeBy((row) => row.id.charCodeAt(0))
      table.columnBy('n', (row) => row.n)
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

function columnOf(table: Table<Row>, name: 'n' | 'owner') {
  return table.columnBy(name, (row) => row[name])
}

function initialOf(id: string): string {
  return id < 'd' ? 'early' : 'late'
}

function expectSame(table: Table<Row>, rows: Row[]): void {
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
    // Made when rows are there, and kept up from then on.
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

/** A thousand rows of a hundred owners, two to a second, every other one of them open; all packed. */
function openTimed() {
  const table = new Table<Timed>()
  const packer = new Packer<Timed>()
  let read = 0
  table.indexBy('owner', (row) => row.owner, { fixed: true })
  table.indexBy('state', (row) => row.state)
  table.timeBy((row) => row.at)
  table.packBeyond(0, {
    toText: (row) => packer.toText(row),
    fromText: (text) => {
      read++
      return packer.fromText(text)
    },
  })
  for (let n = 0; n < 1000; n++) {
    const state = n % 2 === 0 ? 'open' : n < 20 ? 'rare' : 'paid'
    table.set(String(n), { id: String(n), at: Math.floor(n / 2), owner: `o${n % 100}`, state })
  }
  table.packOld()
  const count = (list: () => Iterable<Timed> | null, most = 1000) => {
    read = 0
    const ids: string[] = []
    for (const { id } of list() ?? []) {
      ids.push(id)
      if (ids.length === most) break
    }
    return { ids, read }
  }
  return { table, count }
}

it('unpacks no other rows than a list is of', () => {
  const { table, count } = openTimed()
  const owned = count(() => table.newestBy('owner', 'o7'))
  expect(owned).toEqual({
    ids: [907, 807, 707, 607, 507, 407, 307, 207, 107, 7].map(String),
    read: 10,
  })
  const page = count(() => table.newestBy('owner', 'o7').after('407'), 2)
  expect(page).toEqual({ ids: ['307', '207'], read: 3 })
  expect(count(() => table.newestBy('state', 'rare')).read).toBe(10)
  // Half of all: others are passed by.
  expect(count(() => table.newestBy('state', 'paid'), 100).read).toBe(100)
  expect(count(() => table.newestFirst().after('500'), 10).read).toBe(11)
})

it('finds a span of time without looking at what came before and after', () => {
  const { table, count } = openTimed()
  const within = (list: { between(from: number, to: number): Iterable<Timed> }) =>
    count(() => list.between(100, 102))
  const found = within(table.newestFirst())
  expect(found.ids).toEqual(['205', '204', '203', '202', '201', '200'])
  // Two binary searches among a thousand.
  expect(found.read).toBeLessThan(50)
  expect(within(table.newestBy('owner', 'o1')).ids).toEqual(['201'])
  table.delete('203')
  expect(within(table.newestFirst()).ids).toEqual(['205', '204', '202', '201', '200'])
  expect(count(() => table.newestFirst().between(2000, 3000)).ids).toEqual([])
  expect(count(() => table.newestFirst().between(102, 100)).ids).toEqual([])
  // From here on times are out of order, and all rows are left for a filter.
  table.set('late', { id: 'late', at: 3, owner: 'o1', state: 'paid' })
  expect(within(table.newestFirst()).ids).toHaveLength(1000)
})

it('moves texts together when rows are read and packed again and again', () => {
  const table = new Table<{ id: string; text: string }>()
  table.packBeyond(0, new Packer())
  const ids = Array.from({ length: 200 }, (_, n) => String(n))
  for (const id of ids) table.set(id, { id, text: id.padStart(20_000) })
  for (let round = 0; round < 20; round++) {
    // One stays on each page, and keeps it.
    for (const [n, id] of ids.entries()) if (n % 50 !== round) table.get(id)
    table.packOld()
  }
  expect([...table.values()].map(({ id, text }) => [id, text.trim()])).toEqual(
    ids.map((id) => [id, id]),
  )
})

it('reads each of the rows that were packed together, and keeps the others when one goes', () => {
  const table = new Table<{ id: string; text: string }>()
  table.packBeyond(0, {
    toText: (row) => JSON.stringify([row]),
    fromText: (text, key) => JSON.parse(text).find(({ id }: { id: string }) => id === key),
  })
  const ids: string[] = []
  for (let n = 0; n < 100; n++) {
    const rows = ['a', 'b', 'c'].map((letter) => {
      const id = `${letter}${n}`
      return { id, text: id.padStart(100_000) }
    })
    table.addTogether(rows, JSON.stringify(rows))
    ids.push(...rows.map(({ id }) => id))
  }
  const idsOf = (rows: Iterable<{ id: string }>) => Array.from(rows, ({ id }) => id)
  expect(idsOf(table.values())).toEqual(ids)
  expect(idsOf(table.newestFirst())).toEqual(ids.toReversed())
  // One in thirty stays, and what is left moves together.
  for (const [n, id] of ids.entries()) if (n % 30 !== 1) table.delete(id)
  table.set('last', { id: 'last', text: '' })
  table.packOld()
  expect(idsOf(table.values())).toEqual([...ids.filter((_, n) => n % 30 === 1), 'last'])
  expect(table.get('b0')?.text.trim()).toBe('b0')
})
