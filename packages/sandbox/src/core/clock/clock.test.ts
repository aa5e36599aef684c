import { expect, it } from 'vitest'
import { MovableClock, type ScheduledWork } from './clock.ts'

/** Creates a timeline that falls due at fixed times and logs each time it fires. */
function timeline(
  name: string,
  times: number[],
  log: string[],
  clock: MovableClock,
): ScheduledWork {
  return {
    nextDue: () => times[0] ?? null,
    fireDue: async () => {
      await Promise.resolve()
      log.push(`${name}@${clock.nowMs()}`)
      times.shift()
    },
  }
}

it('the clock runs due work in chronological order, and work due at the same time in the order of registration', async () => {
  const clock = new MovableClock(new Date(0))
  const log: string[] = []
  clock.join(timeline('a', [3000, 5000, 9000], log, clock))
  clock.join(timeline('b', [1000, 3000, 5000], log, clock))
  await clock.advance({ seconds: 5 })
  expect(log).toEqual(['b@1000', 'a@3000', 'b@3000', 'a@5000', 'b@5000'])
  expect(clock.nowMs()).toBe(5000)
})

it('the clock performs concurrent moves one after the other, and rejects a move into the past', async () => {
  const clock = new MovableClock(new Date(0))
  const log: string[] = []
  clock.join(timeline('a', [1000, 2000], log, clock))
  await Promise.all([clock.advance({ seconds: 1 }), clock.advance({ seconds: 1 })])
  expect(clock.nowMs()).toBe(2000)
  expect(log).toEqual(['a@1000', 'a@2000'])
  await expect(clock.advanceTo(new Date(1000))).rejects.toThrow(RangeError)
  await expect(clock.advanceTo(new Date(Number.NaN))).rejects.toThrow(TypeError)
  await expect(clock.advance({ day: 1 } as object)).rejects.toThrow('{"day":1} is not a duration')
  await clock.advance({})
  expect(clock.nowMs()).toBe(2000)
})

it('the clock runs overdue work at its current time, and never goes back', async () => {
  const clock = new MovableClock(new Date(10_000))
  const log: string[] = []
  clock.join(timeline('late', [1000], log, clock))
  await clock.advance({})
  expect(log).toEqual(['late@10000'])
})
