import { expect, it } from 'vitest'
import { MovableClock } from './clock/clock.ts'
import { SandboxStore } from './store/store.ts'
import { VersionLog } from './version-log.ts'

interface Row {
  name: string
  customerId?: string
}

function start() {
  const store = new SandboxStore()
  const clock = new MovableClock(new Date('2026-01-31T10:00:00Z'))
  const table = store.table<Row>('things')
  const log = new VersionLog(store, clock, 'versions')
  log.follow('things', table)
  const told = (key: string) =>
    log.versionsOf('things', key).map(({ cause, text }) => `${cause} ${text}`)
  return { store, clock, table, log, told }
}

it('the version log stores one version of an object per step that changed it', () => {
  const { table, log, told } = start()
  log.recordStep('create', () => {
    table.set('a', { name: 'half' })
    log.recordStep('within', () => table.set('a', { name: 'one' }))
  })
  log.recordStep('nothing', () => table.set('a', { name: 'one' }))
  log.recordStep('change', () => table.set('a', { name: 'two' }))
  log.recordStep('delete', () => table.delete('a'))
  expect(told('a')).toEqual(['create {"name":"one"}', 'change {"name":"two"}', 'delete null'])
})

it('the version log stores changes made before a step failed, and ignores changes between steps', () => {
  const { table, log, told, store } = start()
  const failing = () =>
    log.recordStep('broken', () => {
      table.set('a', { name: 'one' })
      throw new Error('refused')
    })
  expect(failing).toThrow('refused')
  const state = store.snapshot()
  table.set('b', { name: 'between' })
  store.restore(state)
  expect(told('a')).toEqual(['broken {"name":"one"}'])
  expect(told('b')).toEqual([])
})

it('the version log lists the versions of objects that a customer owned, even after the objects were deleted', () => {
  const { table, log } = start()
  log.recordStep('create', () => table.set('a', { name: 'card', customerId: 'ada' }))
  log.recordStep('create', () => table.set('b', { name: 'card', customerId: 'bob' }))
  log.recordStep('delete', () => table.delete('a'))
  const found = log.versionsOfOwner('things', 'ada')
  expect([...found].map(([key, versions]) => [key, versions.length])).toEqual([['a', 2]])
})

it('the version log deletes the oldest versions beyond its limit', () => {
  const { table, log, store } = start()
  for (let i = 0; i < 10_010; i++)
    log.recordStep('set', () => table.set(`k${i}`, { name: String(i) }))
  expect(store.table('versions').size).toBe(10_000)
  expect(log.versionsOf('things', 'k0')).toEqual([])
  expect(log.versionsOf('things', 'k10009')).toHaveLength(1)
})

it('the version log continues after a step whose changes could not be stored', () => {
  const { table, log, told } = start()
  const circular: Row & { self?: unknown } = { name: 'one' }
  circular.self = circular
  expect(() => log.recordStep('broken', () => table.set('a', circular))).toThrow(/circular/)
  log.recordStep('change', () => table.set('b', { name: 'two' }))
  expect(told('b')).toEqual(['change {"name":"two"}'])
})
