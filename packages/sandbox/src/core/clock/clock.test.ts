import { expect, it } from 'vitest'
import { addMonths, daysInMonth } from './calendar.ts'
import { addDuration, MovableClock, type ScheduledWork } from './clock.ts'

const at = (text: string) => new Date(text)

it('addMonths() counts from the first date, through short months and leap years', () => {
  const anchor = at('2023-12-31T08:00:00Z')
  const days = [1, 2, 3, 4, 14].map((n) => addMonths(anchor, n).toISOString().slice(0, 10))
  expect(days).toEqual(['2024-01-31', '2024-02-29', '2024-03-31', '2024-04-30', '2025-02-28'])
  expect(addMonths(at('2024-02-29T00:00:00Z'), 12).toISOString()).toBe('2025-02-28T00:00:00.000Z')
  expect(addMonths(anchor, -1).toISOString()).toBe('2023-11-30T08:00:00.000Z')
  expect(addDuration(anchor, { years: 1, days: 1, seconds: 5 }).toISOString()).toBe(
    '2025-01-01T08:00:05.000Z',
  )
})

it('daysInMonth() returns the length of each month, and also accepts months beyond December', () => {
  for (let month = -14; month < 27; month++) {
    for (const year of [1900, 1999, 2000, 2023, 2024, 2100]) {
      const last = new Date(Date.UTC(year, month + 1, 0)).getUTCDate()
      expect([year, month, daysInMonth(year, month)]).toEqual([year, month, last])
    }
  }
})

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

it('the clock moves once at a time if moves are concurrent, and rejects a move into the past', async () => {
  const clock = new MovableClock(new Date(0))
  const log: string[] = []
  clock.join(timeline('a', [1000, 2000], log, clock))
  await Promise.all([clock.advance({ seconds: 1 }), clock.advance({ seconds: 1 })])
  expect(clock.nowMs()).toBe(2000)
  expect(log).toEqual(['a@1000', 'a@2000'])
  await expect(clock.advanceTo(new Date(1000))).rejects.toThrow(RangeError)
  await expect(clock.advanceTo(new Date(Number.NaN))).rejects.toThrow(TypeError)
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
