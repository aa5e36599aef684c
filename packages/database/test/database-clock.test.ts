import { databaseNow, readServerTime } from '@tollgate/database'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { createTestDatabase } from '../../../test-support/create-test-database.ts'

it('databaseNow() returns the time in milliseconds to readers and writers', async () => {
  const { database, drop } = await createTestDatabase()
  const first = (await readServerTime(database)).getTime()
  // Test servers run on this machine. A difference of an hour would be a time zone, a factor of a
  // thousand the wrong unit.
  expect(Math.abs(first - Date.now())).toBeLessThan(20 * 60_000)
  expect(Number.isInteger(first)).toBe(true)
  const later = await database.transaction(async (tx) => {
    const asked = sql<{ now: number }>`select ${databaseNow(tx)} as now`
    const before = Number((await asked.execute(tx.kysely)).rows[0]?.now)
    let now = before
    while (now === before) now = Number((await asked.execute(tx.kysely)).rows[0]?.now)
    return now - before
  })
  expect(later).toBeGreaterThan(0)
  await drop()
})
