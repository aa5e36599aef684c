import { connect, type Database } from '@tollgate/database'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase } from '../../../test-support/create-test-database.ts'
import { checkConnections } from '../src/cli/doctor/database.ts'

describe("doctor's check of database connections", () => {
  let database: Database
  let drop: () => Promise<void>
  beforeAll(async () => {
    const test = await createTestDatabase()
    database = await connect(test.url, { poolSize: 10 })
    drop = async () => {
      await database.close()
      await test.drop()
    }
  })
  afterAll(() => drop())

  it.runIf(process.env.TEST_DATABASE === 'sqlite')('is left out for SQLite', async () => {
    expect(await checkConnections({ workers: 256 }, database)).toEqual([])
  })

  const isServer = process.env.TEST_DATABASE !== 'sqlite'
  it.runIf(isServer)('warns if the workers may open more than the server allows', async () => {
    const [finding] = await checkConnections({ workers: 200 }, database)
    expect(finding).toMatchObject({ check: 'database', level: 'warning' })
    expect(finding?.message).toMatch(
      /^200 processes open up to 2000 database connections, but the server allows only \d+$/,
    )
    expect(finding?.fix).toContain('TOLLGATE_WORKERS')
  })

  it.runIf(isServer)('reports both numbers if the server allows enough', async () => {
    const [finding] = await checkConnections({ workers: null }, database)
    expect(finding).toMatchObject({ level: 'ok', fix: null })
    expect(finding?.message).toMatch(
      /^1 process opens up to 10 database connections; the server allows \d+$/,
    )
  })
})
