import { ClockNotTrusted, createClockTable, isUnavailable } from '@tollgate/database'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  createTestDatabase,
  type TestDatabase,
} from '../../../test-support/create-test-database.ts'
import { connectMoved, readRecord, writeRecord } from './moved-clock.ts'

const SECOND = 1000
const MINUTE = 60_000
const HOUR = 3_600_000
const DAY = 24 * HOUR
/** Far more than a reading takes, far less than the steps that are tested. */
const SOON = 10 * SECOND

let test: TestDatabase
beforeEach(async () => {
  test = await createTestDatabase()
  await createClockTable(test.database)
})
afterEach(async () => {
  vi.restoreAllMocks()
  await test.drop()
})

const rightNow = Date.now
/** Moves only the wall clock of this process: its monotonic clock and the database's stay right. */
const moveWallClock = (by: number) =>
  vi.spyOn(Date, 'now').mockImplementation(() => rightNow() + by)

describe("the database clock of a process, which tells the database's time [threat Q5],", () => {
  it("does not depend on the computer's clock", async () => {
    const { clock } = test.database
    for (const by of [-400 * DAY, 15 * MINUTE, 400 * DAY]) {
      moveWallClock(by)
      expect(Math.abs(clock.now().getTime() - rightNow())).toBeLessThan(SOON)
    }
  })

  it.each([
    ['ahead of', 15 * MINUTE],
    ['behind', -15 * MINUTE],
    ['ahead of', 61 * SECOND],
  ])(
    "is no longer trusted after the computer's clock jumps to a time %s the database's time",
    async (direction, by) => {
      const { clock } = test.database
      const told: (string | null)[] = []
      clock.onChange((problem) => told.push(problem))
      expect(clock.check()).toBeNull()
      moveWallClock(by)
      const refused = await Promise.resolve(clock.check()).catch((error) => error)
      expect(refused).toBeInstanceOf(ClockNotTrusted)
      expect(refused.message).toContain(`${direction} the database's`)
      expect(isUnavailable(refused)).toBe(true)
      // The next check reads nothing from the database and throws the same error.
      await expect(clock.check()).rejects.toThrow(direction)
      vi.restoreAllMocks()
      await clock.check()
      expect(clock.check()).toBeNull()
      expect(told).toEqual([expect.stringContaining(direction), null])
    },
  )

  it('notifies every listener, including later ones, but none that was removed', async () => {
    const { clock } = test.database
    const told: Record<string, (string | null)[]> = { first: [], removed: [], second: [], late: [] }
    const listen = (name: string) => clock.onChange((problem) => told[name]?.push(problem))
    listen('first')
    const remove = listen('removed')
    listen('second')
    remove()
    remove()
    moveWallClock(15 * MINUTE)
    await expect(clock.check()).rejects.toThrow('ahead of')
    listen('late')
    vi.restoreAllMocks()
    await clock.check()
    const both = [expect.stringContaining('ahead of'), null]
    expect(told).toEqual({ first: both, removed: [], second: both, late: both })
  })

  it('is trusted within the limit passed to connect()', async () => {
    const strict = await connectMoved(test.url, 0, { maxClockSkew: 5 * SECOND })
    moveWallClock(30 * SECOND)
    await test.database.clock.check()
    await expect(strict.database.clock.check()).rejects.toThrow('At most 5 s')
  })

  it("stands still while the database's time is behind by less than the limit", async () => {
    const { database, move } = await connectMoved(test.url)
    const before = database.clock.now()
    await move(-50 * SECOND)
    expect(database.clock.now()).toEqual(before)
    expect(database.clock.check()).toBeNull()
  })

  it("is not trusted if the database's time is behind by more than the limit, and never goes back", async () => {
    const { database, move } = await connectMoved(test.url)
    const { clock } = database
    const before = clock.now()
    await move(-HOUR)
    await expect(clock.check()).rejects.toThrow(/The database's clock is 3\d{3} s behind/)
    expect(clock.now()).toEqual(before)
    await move(0)
    expect(clock.check()).toBeNull()
    expect(clock.now().getTime()).toBeGreaterThanOrEqual(before.getTime())
  })

  it("is not trusted by a process that starts after the database's clock went back, until it is repaired by hand", async () => {
    // Recorded while the database's clock was a day ahead.
    await writeRecord(test.database, { newest: DAY })
    const { database } = await connectMoved(test.url)
    const { clock } = database
    await clock.begin()
    await expect(clock.check()).rejects.toThrow('tollgate clock repair')
    expect(clock.now().getTime()).toBeGreaterThan(Date.now() + DAY - SOON)
    const { before, now } = await test.database.clock.repair()
    expect(Number(before) - Number(now)).toBeGreaterThan(DAY - SOON)
    await expect.poll(() => clock.check()).toBeNull()
    expect(Math.abs(clock.now().getTime() - Date.now())).toBeLessThan(SOON)
    expect(Math.abs((await readRecord(database)).newest)).toBeLessThan(SOON)
  })

  it("does not record a time that contradicts the computer's clock", async () => {
    const { database, move } = await connectMoved(test.url)
    const { clock } = database
    await move(HOUR)
    clock.now()
    await clock.begin()
    await expect(clock.check()).rejects.toThrow("behind the database's")
    // Another server with a correct clock has taken over.
    await move(0)
    expect(clock.check()).toBeNull()
    expect(Math.abs(clock.now().getTime() - Date.now())).toBeLessThan(SOON)
  })

  it('is recorded correctly if any number of processes write the record concurrently', async () => {
    const all = await Promise.all([1, 2, 3, 4, 5, 6].map(() => connectMoved(test.url)))
    await Promise.all(all.map(({ database }) => database.clock.begin()))
    for (const { database } of all) expect(database.clock.check()).toBeNull()
    await Promise.all(all.map(({ database }) => database.close()))
    const { newest, members } = await readRecord(test.database)
    expect(Math.abs(newest)).toBeLessThan(SOON)
    expect(members).toBe(0)
  })
})
