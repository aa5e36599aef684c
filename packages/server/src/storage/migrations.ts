import { addColumn, createTable, type MigrationSet } from '@tollgate/database'
import { sql } from 'kysely'

/** Forward only. A change of shape is a new entry at the end; what has run is never edited. */
export const serviceMigrations: MigrationSet = {
  name: 'service',
  migrations: [
    {
      id: '0001-users',
      async up(database, columns) {
        await createTable(database, 'users', {
          columns: {
            id: columns.counter,
            email: columns.string(254),
            email_key: columns.string(254),
            name: columns.string(100).nullable(),
            password_hash: columns.string(255),
            operator: columns.flag,
            demo: columns.flag,
            created_at: columns.instant,
          },
          unique: { users_by_email: ['email_key'] },
          indexes: { users_by_demo: ['demo'] },
        })
      },
    },
    {
      id: '0002-sessions',
      async up(database, columns) {
        await createTable(database, 'sessions', {
          columns: {
            id_hash: columns.id,
            user_id: columns.integer,
            created_at: columns.instant,
            seen_at: columns.instant,
            expires_at: columns.instant,
          },
          primaryKey: ['id_hash'],
          indexes: { sessions_by_user: ['user_id'], sessions_by_end: ['expires_at'] },
        })
      },
    },
    {
      // The authorization server has the limits now. The table stays for processes of an older version beside this one.
      id: '0003-rate-limits',
      async up(database, columns) {
        await createTable(database, 'rate_limits', {
          columns: {
            name: columns.string(200),
            points: columns.integer,
            expires_at: columns.instant,
          },
          primaryKey: ['name'],
          indexes: { rate_limits_by_end: ['expires_at'] },
        })
      },
    },
    {
      id: '0004-daily-figures',
      async up(database, columns) {
        await createTable(database, 'daily_figures', {
          columns: {
            name: columns.id,
            day: columns.string(10),
            unit: columns.string(10),
            amount: columns.integer,
          },
          primaryKey: ['name', 'day', 'unit'],
        })
        await createTable(database, 'counted_events', {
          columns: { id: columns.string(320), counted_at: columns.instant },
          primaryKey: ['id'],
          indexes: { counted_events_by_time: ['counted_at'] },
        })
      },
    },
    {
      id: '0005-known-networks',
      async up(database, columns) {
        await createTable(database, 'known_networks', {
          columns: {
            name: columns.string(200),
            account: columns.id,
            used_at: columns.instant,
          },
          primaryKey: ['name'],
          indexes: {
            known_networks_by_account: ['account', 'used_at'],
            known_networks_by_use: ['used_at'],
          },
        })
        // They stood among the limits, named `known:<account>@<network>`, for 90 days.
        await sql`delete from known_networks`.execute(database.kysely)
        await sql`insert into known_networks (name, account, used_at)
          select substr(name, 7), substr(name, 7, 32), expires_at - 7776000000
          from rate_limits where name like 'known:%'`.execute(database.kysely)
      },
    },
    {
      id: '0006-write-probes',
      async up(database, columns) {
        await createTable(database, 'write_probes', {
          columns: { id: columns.id, written_at: columns.instant, filler: columns.text },
          primaryKey: ['id'],
        })
      },
    },
    {
      id: '0007-disabled-users',
      async up(database, columns) {
        await addColumn(database, 'users', 'disabled_at', columns.instant.nullable())
      },
    },
    {
      id: '0008-session-places',
      async up(database, columns) {
        await addColumn(database, 'sessions', 'address', columns.id.nullable())
        await addColumn(database, 'sessions', 'browser', columns.string(100).nullable())
      },
    },
  ],
}
