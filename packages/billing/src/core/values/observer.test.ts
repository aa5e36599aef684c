import { describe, expect, it } from 'vitest'
import { createObserveFunction, type Observer } from './observer.ts'

const WORK = { kind: 'job', queue: 'webhook', entry: null } as const

function start(observer: Observer) {
  const logged: unknown[] = []
  const observe = createObserveFunction(observer, {
    error: (_message, error) => logged.push(error),
  })
  return { observe, logged }
}

const wrong = new Error('The observer is wrong')
const observers: readonly (readonly [string, Observer, number])[] = [
  ['runs the work', (_work, run) => run(), 0],
  ['runs the work twice', async (_work, run) => [await run(), await run()], 0],
  ['does not run the work', async () => undefined, 0],
  ['does not wait for the work', async (_work, run) => void run().catch(() => undefined), 0],
  ['throws before the work', () => Promise.reject(wrong), 1],
  ['throws after the work', (_work, run) => run().finally(() => Promise.reject(wrong)), 1],
  ['hides failures of the work', (_work, run) => run().catch(() => undefined), 0],
]

describe('observed work', () => {
  it.each(observers)(
    'is done once and returns its result if the observer %s',
    async (_, observer, failures) => {
      const { observe, logged } = start(observer)
      let done = 0
      const run = async () => {
        done += 1
        return 'result'
      }
      expect(await observe(WORK, run)).toBe('result')
      expect(done).toBe(1)
      expect(logged).toHaveLength(failures)
    },
  )

  it.each(observers)(
    'fails with its own error if the observer %s',
    async (_, observer, failures) => {
      const { observe, logged } = start(observer)
      const failure = new Error('The work failed')
      await expect(observe(WORK, () => Promise.reject(failure))).rejects.toBe(failure)
      expect(logged).toHaveLength(failures)
    },
  )

  it('is done if the observer throws synchronously, and the error is logged', async () => {
    const { observe, logged } = start(() => {
      throw wrong
    })
    expect(await observe(WORK, async () => 'result')).toBe('result')
    expect(logged).toEqual([wrong])
  })
})
