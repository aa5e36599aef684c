import fc from 'fast-check'
import { expect, it } from 'vitest'
import { DueQueue } from './due-queue.ts'
import { SandboxStore } from './store.ts'

interface Row {
  id: string
  owner: string | null
  due: number | null
}

it('the store generates the same ids on every run, and never the same id twice', () => {
  const draw = () => {
    const store = new SandboxStore(7)
    return Array.from({ length: 5000 }, () => store.nextId('cus_', 14))
  }
  const ids = draw()
  expect(draw()).toEqual(ids)
  expect(new Set(ids).size).toBe(5000)
  expect(ids[0]).toMatch(/^cus_[0-9A-Za-z]{14}$/)
  expect(new SandboxStore(8).nextId('cus_', 14)).not.toBe(ids[0])
})

it('the store generates the same ids as in earlier releases, on which state files and existing tests rely', () => {
  const store = new SandboxStore(7)
  expect(store.nextId('cus_', 14)).toBe('cus_qXFn1zInUFvW2D')
  expect(store.nextId('evt_')).toBe('evt_DHqy983zWqdpedyZNaR45YCX')
  expect(store.randomText(7, '0123456789')).toBe('1247729')
})

it('a table finds rows by an index in insertion order, and updates the index when a row changes', () => {
  const table = new SandboxStore().table<Row>('rows')
  table.indexBy('owner', (row) => row.owner)
  for (const [id, owner] of [
    ['1', 'a'],
    ['2', 'b'],
    ['3', 'a'],
  ] as const) {
    table.set(id, { id, owner, due: null })
  }
  expect(table.findBy('owner', 'a').map((row) => row.id)).toEqual(['1', '3'])
  const second = table.get('2')
  if (second) second.owner = 'a'
  if (second) table.set('2', second)
  expect(table.findBy('owner', 'b')).toEqual([])
  table.delete('1')
  expect([...table.newestFirst()].map((row) => row.id)).toEqual(['3', '2'])
  table.set('1', { id: '1', owner: null, due: null })
  expect([...table.newestFirst()].map((row) => row.id)).toEqual(['1', '3', '2'])
  expect(
    table
      .findBy('owner', 'a')
      .map((row) => row.id)
      .sort(),
  ).toEqual(['2', '3'])
})

it('the store restores ids, rows, indexes and due times from a snapshot', () => {
  const store = new SandboxStore(3)
  const table = store.table<Row>('rows')
  const queue = table.dueBy('due', (row) => row.due)
  table.set('x', { id: 'x', owner: null, due: 50 })
  store.nextId('a')
  store.nextNumber('n')
  const saved = JSON.parse(JSON.stringify(store.snapshot())) as ReturnType<SandboxStore['snapshot']>
  const next = [store.nextId('b'), store.nextNumber('n')]
  table.delete('x')
  expect(queue.nextDue()).toBeNull()
  store.restore(saved)
  expect(queue.nextDue()).toBe(50)
  expect([store.nextId('b'), store.nextNumber('n')]).toEqual(next)
  const other = new SandboxStore(99)
  other.restore(saved)
  expect([other.nextId('b'), other.nextNumber('n')]).toEqual(next)
})

it('DueQueue lists keys in the same order as a sorted list', () => {
  const action = fc.tuple(fc.constantFrom('a', 'b', 'c', 'd', 'e'), fc.option(fc.nat(20)))
  fc.assert(
    fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
      const queue = new DueQueue()
      const model = new Map<string, number>()
      for (const [key, due] of actions) {
        queue.set(key, due)
        if (due === null) model.delete(key)
        else model.set(key, due)
        const least = model.size > 0 ? Math.min(...model.values()) : null
        expect(queue.nextDue()).toBe(least)
        if (least !== null) expect(model.get(queue.nextKey(least) ?? '')).toBe(least)
      }
    }),
  )
})
