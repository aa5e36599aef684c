import { describe, expect, it } from 'vitest'
import { createWorker } from './worker.ts'

const NOW = new Date('2026-01-01')

function start() {
  const waiting: number[] = []
  const done: number[] = []
  const settings = {
    clock: { now: () => NOW },
    logger: console,
    attempts: 3,
    everySeconds: null,
    ready: async () => undefined,
  }
  const worker = createWorker(settings, {
    what: 'event',
    nameOf: ({ id }) => String(id),
    work: async ({ id }) => {
      done.push(id)
    },
    queue: {
      listDue: async () => [...waiting],
      claim: async (id) => (waiting.includes(id) ? { id, attempts: 0 } : null),
      finish: async (id) => waiting.splice(waiting.indexOf(id), 1),
      fail: async () => undefined,
    },
  })
  return { worker, waiting, done }
}

describe('a background worker', () => {
  // The end of a run takes several microtask steps; try to interrupt each.
  it.each(Array.from({ length: 20 }, (_, steps) => ({ steps })))(
    'processes an entry that arrives $steps microtasks after a process() call began, if process() is called again',
    async ({ steps }) => {
      const { worker, waiting, done } = start()
      const before = worker.process()
      for (let step = 0; step < steps; step++) await null
      waiting.push(7)
      await worker.process()
      expect(done).toEqual([7])
      await before
    },
  )

  it('processes new entries after a failed attempt to read its queue', async () => {
    const { worker, waiting, done } = start()
    const queue = waiting[Symbol.iterator]
    waiting[Symbol.iterator] = () => {
      throw new Error('The database is gone')
    }
    await expect(worker.process()).rejects.toThrow('gone')
    waiting[Symbol.iterator] = queue
    waiting.push(8)
    await worker.process()
    expect(done).toEqual([8])
  })
})
