import { afterEach, describe, it } from 'vitest'
import { createTestDatabase } from '../../../test-support/create-test-database.ts'
import { kyselyStorage } from '../src/storage/kysely/storage.ts'
import { memoryStorage } from '../src/storage/memory.ts'
import { storageContract } from '../src/testing/index.ts'

const drops: Array<() => Promise<void>> = []
afterEach(async () => {
  for (const drop of drops.splice(0)) await drop()
})

describe('storageContract() on the database', () => {
  storageContract({ describe, it }, async () => {
    const { database, drop } = await createTestDatabase()
    drops.push(drop)
    const storage = kyselyStorage(database)
    await storage.migrate()
    return storage
  })
})

describe('storageContract() in memory', () => {
  storageContract({ describe, it }, async () => memoryStorage())
})
