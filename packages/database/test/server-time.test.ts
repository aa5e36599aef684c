import { readServerTime } from '@tollgate/database'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  createTestDatabase,
  type TestDatabase,
} from '../../../test-support/create-test-database.ts'

let test: TestDatabase
beforeAll(async () => {
  test = await createTestDatabase()
})
afterAll(() => test.drop())

it("reads the database's clock, which on this machine is our own", async () => {
  const before = Date.now()
  const time = (await readServerTime(test.database)).getTime()
  const after = Date.now()
  // Databases round, and read their clock in their own way.
  expect(time).toBeGreaterThanOrEqual(before - 1000)
  expect(time).toBeLessThanOrEqual(after + 1000)
})
