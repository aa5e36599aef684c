import { createClockTable, createTable, type MigrationSet } from '@tollgate/database'
import { oauthTables } from './tables.ts'

/** The migrations in order. Append new ones at the end; never edit one that has been released. */
export const oauthMigrations: MigrationSet = {
  name: 'oauth',
  migrations: [
    {
      id: '0001-first-release',
      async up(database, columns) {
        for (const table of oauthTables) {
          await createTable(database, table.name, table.describe(columns))
        }
        await createClockTable(database)
      },
    },
  ],
}
