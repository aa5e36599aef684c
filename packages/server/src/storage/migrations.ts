import { createTable, type MigrationSet } from '@tollgate/database'
import { serviceTables } from './tables.ts'

/**
 * Migrations of the service's own tables, which only go forward. Add an entry at the end for each
 * change, and never edit a released one.
 */
export const serviceMigrations: MigrationSet = {
  name: 'service',
  migrations: [
    {
      id: '0001-first-release',
      async up(database, columns) {
        for (const table of serviceTables) {
          await createTable(database, table.name, table.describe(columns))
        }
      },
    },
  ],
}
