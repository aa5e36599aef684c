import {
  addColumn,
  createClockTable,
  createIndex,
  createTable,
  databaseNow,
  type MigrationSet,
} from '@tollgate/database'
import { sql } from 'kysely'
import { FEED_KEPT } from '../records.ts'

/** Forward only. A change of shape is a new entry at the end; what has run is never edited. */
export const oauthMigrations: MigrationSet = {
  name: 'oauth',
  migrations: [
    {
      id: '0001-tables',
      async up(database, columns) {
        await createTable(database, 'oauth_clients', {
          columns: {
            id: columns.id,
            user_id: columns.string(255).nullable(),
            name: columns.string(255),
            secret_hash: columns.id.nullable(),
            secret_version: columns.integer,
            redirect_uris: columns.text,
            grant_types: columns.text,
            scopes: columns.text.nullable(),
            first_party: columns.flag,
            resource_server: columns.flag,
            revoked_at: columns.instant.nullable(),
            created_at: columns.instant,
            updated_at: columns.instant,
          },
          primaryKey: ['id'],
          indexes: { oauth_clients_by_user: ['user_id'] },
        })
        await createTable(database, 'oauth_tokens', {
          columns: {
            id: columns.id,
            client_id: columns.id,
            user_id: columns.string(255).nullable(),
            grant_type: columns.id,
            name: columns.string(255).nullable(),
            scopes: columns.text,
            generation: columns.integer,
            client_secret_version: columns.integer,
            issued_at: columns.instant,
            expires_at: columns.instant,
            refresh_expires_at: columns.instant.nullable(),
            live_until: columns.instant,
            revoked_at: columns.instant.nullable(),
            created_at: columns.instant,
          },
          primaryKey: ['id'],
          indexes: {
            oauth_tokens_by_user: ['user_id', 'client_id'],
            oauth_tokens_by_end: ['live_until'],
          },
        })
        await createTable(database, 'oauth_authorization_codes', {
          columns: {
            hash: columns.id,
            token_id: columns.id,
            client_id: columns.id,
            user_id: columns.string(255),
            redirect_uri: columns.text.nullable(),
            scopes: columns.text,
            code_challenge: columns.id.nullable(),
            expires_at: columns.instant,
            used_at: columns.instant.nullable(),
          },
          primaryKey: ['hash'],
          indexes: {
            oauth_codes_by_user: ['user_id', 'client_id'],
            oauth_codes_by_end: ['expires_at'],
          },
        })
        await createTable(database, 'oauth_interactions', {
          columns: {
            hash: columns.id,
            client_id: columns.id,
            user_id: columns.string(255),
            session_id: columns.string(255).nullable(),
            response_type: columns.id,
            redirect_to: columns.text,
            redirect_uri: columns.text.nullable(),
            scopes: columns.text,
            state: columns.text.nullable(),
            code_challenge: columns.id.nullable(),
            created_at: columns.instant,
            expires_at: columns.instant,
            decided_at: columns.instant.nullable(),
          },
          primaryKey: ['hash'],
          indexes: {
            oauth_interactions_by_user: ['user_id', 'created_at'],
            oauth_interactions_by_end: ['expires_at'],
          },
        })
        await createTable(database, 'oauth_consents', {
          columns: {
            user_id: columns.string(255),
            client_id: columns.id,
            scopes: columns.text,
            updated_at: columns.instant,
          },
          primaryKey: ['user_id', 'client_id'],
        })
        await createTable(database, 'oauth_keys', {
          columns: {
            kid: columns.id,
            algorithm: columns.id,
            public_jwk: columns.text,
            sealed_private_jwk: columns.text,
            created_at: columns.instant,
            active_from: columns.instant,
          },
          primaryKey: ['kid'],
        })
        await createTable(database, 'oauth_revocations', {
          columns: {
            id: columns.counter,
            kind: columns.id,
            subject: columns.string(255),
            at: columns.instant,
            until: columns.instant,
          },
          indexes: { oauth_revocations_by_end: ['until'] },
        })
      },
    },
    {
      id: '0002-clients-say-what-they-are',
      async up(database, columns) {
        await addColumn(database, 'oauth_clients', 'confidential', columns.flag.nullable())
        await addColumn(database, 'oauth_clients', 'any_scope', columns.flag.nullable())
        // Public ones were made without a hash; whatever was given a second secret never was public.
        await sql`update oauth_clients set
          confidential = case when secret_hash is null and secret_version = 1 then 0 else 1 end
          where confidential is null`.execute(database.kysely)
        await sql`update oauth_clients set any_scope = case when scopes is null then 1 else 0 end
          where any_scope is null`.execute(database.kysely)
      },
    },
    {
      id: '0003-late-repeats',
      async up(database, columns) {
        const { instant, integer } = columns
        await addColumn(database, 'oauth_tokens', 'previous_expires_at', instant.nullable())
        await addColumn(database, 'oauth_tokens', 'late_generation', integer.nullable())
      },
    },
    {
      id: '0004-feed-history',
      async up(database, columns) {
        const table = 'oauth_revocations'
        await addColumn(database, table, 'mark', columns.id.nullable())
        await addColumn(database, table, 'written_at', columns.instant.nullable())
        const name = 'oauth_revocations_by_time'
        await createIndex(database, { name, table, columns: ['written_at'] })
        // Long settled, so whoever reads the whole feed need not wait for holes before them.
        await database.kysely
          .updateTable(table)
          .set({ written_at: sql.ref('at') })
          .where('written_at', 'is', null)
          .where('at', '<', sql`${databaseNow(database)} - ${sql.lit(FEED_KEPT)}`)
          .execute()
      },
    },
    {
      id: '0005-details',
      async up(database, columns) {
        await addColumn(database, 'oauth_clients', 'settings', columns.text.nullable())
        await addColumn(database, 'oauth_tokens', 'details', columns.text.nullable())
        await addColumn(database, 'oauth_authorization_codes', 'details', columns.text.nullable())
        await addColumn(database, 'oauth_interactions', 'details', columns.text.nullable())
        await createTable(database, 'oauth_tickets', {
          columns: {
            hash: columns.id,
            kind: columns.id,
            content: columns.text,
            expires_at: columns.instant,
          },
          primaryKey: ['hash'],
          indexes: { oauth_tickets_by_end: ['expires_at'] },
        })
      },
    },
    {
      id: '0006-sessions',
      async up(database, columns) {
        await createTable(database, 'oauth_sessions', {
          columns: {
            sid: columns.id,
            session_id: columns.id,
            client_id: columns.id,
            user_id: columns.string(255),
            created_at: columns.instant,
            seen_at: columns.instant,
            live_until: columns.instant,
          },
          primaryKey: ['sid'],
          indexes: {
            oauth_sessions_by_session: ['session_id'],
            oauth_sessions_by_user: ['user_id'],
            oauth_sessions_by_end: ['live_until'],
          },
        })
        await createTable(database, 'oauth_logouts', {
          columns: {
            id: columns.id,
            client_id: columns.id,
            user_id: columns.string(255),
            sid: columns.id,
            attempts: columns.integer,
            due_at: columns.instant,
            expires_at: columns.instant,
          },
          primaryKey: ['id'],
          indexes: {
            oauth_logouts_by_due: ['due_at'],
            oauth_logouts_by_client: ['client_id'],
            oauth_logouts_by_end: ['expires_at'],
          },
        })
      },
    },
    {
      id: '0007-left-out-scopes',
      up: (database, columns) =>
        addColumn(database, 'oauth_consents', 'declined', columns.text.nullable()),
    },
    {
      id: '0008-limits',
      async up(database, columns) {
        await addColumn(database, 'oauth_tickets', 'holder', columns.string(100).nullable())
        await createIndex(database, {
          name: 'oauth_tickets_by_holder',
          table: 'oauth_tickets',
          columns: ['kind', 'holder', 'expires_at'],
        })
        await createTable(database, 'oauth_limits', {
          columns: {
            name: columns.string(200),
            points: columns.integer,
            holder: columns.id.nullable(),
            expires_at: columns.instant,
          },
          primaryKey: ['name'],
          indexes: { oauth_limits_by_end: ['expires_at'] },
        })
      },
    },
    { id: '0009-clock', up: createClockTable },
    {
      id: '0010-heartbeats',
      up: (database, columns) =>
        createTable(database, 'oauth_heartbeats', {
          columns: {
            id: columns.id,
            beat: columns.integer,
            beaten_at: columns.instant,
          },
          primaryKey: ['id'],
        }),
    },
  ],
}
