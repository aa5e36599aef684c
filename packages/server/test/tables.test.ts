import { createColumnDefinitions, createTable, migrate } from '@tollgate/database'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  createTestDatabase,
  type TestDatabase,
} from '../../../test-support/create-test-database.ts'
import { describeSchema } from '../../../test-support/describe-schema.ts'
import { serviceMigrations } from '../src/storage/migrations.ts'
import { serviceTables } from '../src/storage/tables.ts'

let migrated: TestDatabase
let defined: TestDatabase
beforeAll(async () => {
  migrated = await createTestDatabase()
  await migrate(migrated.database, serviceMigrations)
  defined = await createTestDatabase()
  for (const { name, describe } of serviceTables) {
    await createTable(defined.database, name, describe(createColumnDefinitions(defined.database)))
  }
})
afterAll(async () => {
  await migrated.drop()
  await defined.drop()
})

describe('the migrations', () => {
  it.each(serviceTables.map(({ name }) => name))(
    'create the table %s as the code defines it',
    async (name) => {
      const found = await describeSchema(migrated.database, name)
      expect(found).toEqual(await describeSchema(defined.database, name))
      expect(found).not.toEqual(await describeSchema(defined.database, 'nothing'))
    },
  )
})
