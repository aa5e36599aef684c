import {
  addColumn,
  createClockTable,
  createIndex,
  createTable,
  type MigrationSet,
} from '@tollgate/database'
import { oauthTables } from './tables.ts'

/** The migrations in order. Append new ones at the end; never edit one that has been released. */
export const oauthMigrations: MigrationSet = {
  name: 'oauth',
  migrations: [
    {
      id: '0001-initial',
      async up(database, columns) {
        for (const table of oauthTables) {
          await createTable(database, table.name, table.describe(columns))
        }
        await createClockTable(database)
      },
    },
    {
      id: '0002-pages',
      async up(database) {
        await createIndex(database, {
          name: 'oauth_clients_by_age',
          table: 'oauth_clients',
          columns: ['created_at', 'id'],
        })
        await createIndex(database, {
          name: 'oauth_tokens_by_client',
          table: 'oauth_tokens',
          columns: ['client_id', 'id'],
        })
      },
    },
    {
      id: '0003-last-use',
      async up(database, { instant }) {
        await addColumn(database, 'oauth_clients', 'last_used_at', instant.nullable())
      },
    },
    {
      id: '0004-last-use-of-tokens',
      async up(database, { instant }) {
        await addColumn(database, 'oauth_tokens', 'last_used_at', instant.nullable())
      },
    },
  ],
}
