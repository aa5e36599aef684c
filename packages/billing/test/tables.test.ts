import { createColumnDefinitions, createIndex, createTable, migrate } from '@tollgate/database'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  createTestDatabase,
  type TestDatabase,
} from '../../../test-support/create-test-database.ts'
import { describeSchema } from '../../../test-support/describe-schema.ts'
import { queueTables } from '../src/core/storage/queue-tables.ts'
import { createBillingTables, userColumns } from '../src/core/storage/tables.ts'
import { billingMigrations, ownerMigrations } from '../src/index.ts'

describe.each(['integer', 'string'] as const)(
  'the migrations, for users with ids of the type %s',
  (idType) => {
    const tables = [...createBillingTables(idType), ...queueTables]
    const owners = ['people', 'teams']
    let migrated: TestDatabase
    let defined: TestDatabase
    beforeAll(async () => {
      migrated = await createTestDatabase()
      const columns = createColumnDefinitions(migrated.database)
      const id = idType === 'string' ? columns.string(255) : columns.integer
      const own = { columns: { id }, primaryKey: ['id'] }
      for (const name of owners) await createTable(migrated.database, name, own)
      const users = { table: 'people', id: 'id', idType, email: 'email', name: 'name' }
      await migrate(migrated.database, billingMigrations(users))
      await migrate(migrated.database, ownerMigrations('team', { table: 'teams' }))

      defined = await createTestDatabase()
      const added = userColumns.describe(columns)
      const both = { ...own, columns: { ...own.columns, ...added.columns } }
      for (const table of owners) {
        await createTable(defined.database, table, both)
        await createIndex(defined.database, {
          name: `${table}_by_customer`,
          table,
          columns: ['provider', 'provider_id'],
          unique: true,
        })
      }
      for (const { name, describe } of tables) {
        await createTable(defined.database, name, describe(columns))
      }
    })
    afterAll(async () => {
      await migrated.drop()
      await defined.drop()
    })

    it.each([...owners, ...tables.map(({ name }) => name)])(
      'create the table %s with the columns and indexes of its definition',
      async (name) => {
        const found = await describeSchema(migrated.database, name)
        expect(found).toEqual(await describeSchema(defined.database, name))
        expect(found).not.toEqual(await describeSchema(defined.database, 'nothing'))
      },
    )
  },
)
