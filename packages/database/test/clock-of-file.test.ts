import { createClockTable } from '@tollgate/database'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  createTestDatabase,
  type TestDatabase,
} from '../../../test-support/create-test-database.ts'
import { connectMoved, readRecord, writeRecord } from './moved-clock.ts'

const MINUTE = 60_000
const DAY = 24 * 3_600_000
const SOON = 10_000
/** A record that does not change is watched for twelve seconds. */
const LONG = { timeout: 60_000 }

let test: TestDatabase
beforeEach(async () => {
  test = await createTestDatabase()
  await createClockTable(test.database)
})
afterEach(() => test.drop())

/** SQLite has no clock: the processes that have a file open agree on its time. */
describe('the time recorded in an SQLite file [threat Q5]', () => {
  it(
    'is followed by a new process whose clock is 15 minutes ahead of the processes that have the file open',
    LONG,
    async () => {
      const { clock } = test.database
      await clock.begin()
      const wrong = await connectMoved(test.url, 15 * MINUTE)
      await wrong.database.clock.begin()
      await expect(wrong.database.clock.check()).rejects.toThrow(/ s ahead of the time that other/)
      expect(Math.abs(wrong.database.clock.now().getTime() - Date.now())).toBeLessThan(SOON)
      expect(clock.check()).toBeNull()
      expect((await readRecord(test.database)).newest).toBeLessThan(SOON)
      await wrong.move(0)
      await expect.poll(() => wrong.database.clock.check(), LONG).toBeNull()
    },
  )

  it('makes a new process whose clock is 15 minutes behind distrust its own time', async () => {
    await test.database.clock.begin()
    const wrong = await connectMoved(test.url, -15 * MINUTE)
    await wrong.database.clock.begin()
    await expect(wrong.database.clock.check()).rejects.toThrow(/ s behind the newest time/)
    expect(test.database.clock.check()).toBeNull()
  })

  it('advances after a pause, but is not used for deletions until a day later', async () => {
    await writeRecord(test.database, { newest: -400 * DAY })
    const { clock } = test.database
    await clock.begin()
    expect(clock.check()).toBeNull()
    expect(Math.abs(clock.now().getTime() - Date.now())).toBeLessThan(SOON)
    const settled = clock.settled().getTime() - Date.now() + 400 * DAY
    expect(Math.abs(settled)).toBeLessThan(SOON)
    expect(await readRecord(test.database)).toMatchObject({ members: 1 })
  })

  it('is not changed by a short-lived command, whose clock may be wrong', async () => {
    await writeRecord(test.database, { newest: -400 * DAY })
    const command = await connectMoved(test.url, 0, { recordsTime: false })
    await command.database.clock.begin()
    expect(command.database.clock.check()).toBeNull()
    expect(command.database.clock.settled().getTime()).toBeLessThan(Date.now() - 399 * DAY)
    const { newest, members } = await readRecord(test.database)
    expect(newest).toBeLessThan(-399 * DAY)
    expect(members).toBe(0)
  })

  it('advances even after every process was killed', LONG, async () => {
    await writeRecord(test.database, { newest: -DAY, members: 3 })
    const { clock } = test.database
    await clock.begin()
    expect(clock.check()).toBeNull()
    expect(await readRecord(test.database)).toMatchObject({ members: 1 })
  })
})
