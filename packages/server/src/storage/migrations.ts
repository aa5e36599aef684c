import { addColumn, createTable, type MigrationSet } from '@tollgate/database'

/**
 * Migrations of the service's own tables, which only go forward. Add an entry at the end for each
 * change, and never edit a released one.
 */
export const serviceMigrations: MigrationSet = {
  name: 'service',
  migrations: [
    {
      id: '0001-initial',
      async up(database, { id, string, text, instant, integer, flag, counter }) {
        await createTable(database, 'users', {
          columns: {
            id: counter,
            email: string(254),
            email_key: string(254),
            name: string(100).nullable(),
            password_hash: string(255),
            operator: flag,
            demo: flag,
            created_at: instant,
            disabled_at: instant.nullable(),
          },
          unique: { users_by_email: ['email_key'] },
          indexes: { users_by_demo: ['demo'] },
        })
        await createTable(database, 'sessions', {
          columns: {
            id_hash: id,
            user_id: integer,
            created_at: instant,
            seen_at: instant,
            expires_at: instant,
            address: id.nullable(),
            browser: string(100).nullable(),
          },
          primaryKey: ['id_hash'],
          indexes: { sessions_by_user: ['user_id'], sessions_by_end: ['expires_at'] },
        })
        await createTable(database, 'known_networks', {
          columns: { name: string(200), account: id, used_at: instant },
          primaryKey: ['name'],
          indexes: {
            known_networks_by_account: ['account', 'used_at'],
            known_networks_by_use: ['used_at'],
          },
        })
        await createTable(database, 'daily_figures', {
          columns: { name: id, day: string(10), unit: string(10), amount: integer },
          primaryKey: ['name', 'day', 'unit'],
        })
        await createTable(database, 'counted_events', {
          columns: { id: string(320), counted_at: instant },
          primaryKey: ['id'],
          indexes: { counted_events_by_time: ['counted_at'] },
        })
        await createTable(database, 'write_probes', {
          columns: { id, written_at: instant, filler: text },
          primaryKey: ['id'],
        })
      },
    },
    {
      id: '0002-language-of-accounts',
      async up(database, { string }) {
        await addColumn(database, 'users', 'locale', string(35).nullable())
      },
    },
  ],
}
