import {
  addColumn,
  createIndex,
  createTable,
  hasColumn,
  type MigrationSet,
} from '@tollgate/database'

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
            email_verified_at: instant.nullable(),
            name: string(100).nullable(),
            password_hash: string(255).nullable(),
            operator: flag,
            demo: flag,
            created_at: instant,
            disabled_at: instant.nullable(),
            leaving_at: instant.nullable(),
          },
          unique: { users_by_email: ['email_key'] },
          indexes: { users_by_demo: ['demo'], users_by_leaving: ['leaving_at'] },
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
            authenticated_at: instant,
            methods: string(100),
          },
          primaryKey: ['id_hash'],
          indexes: { sessions_by_user: ['user_id'], sessions_by_end: ['expires_at'] },
        })
        await createTable(database, 'pending_sign_ins', {
          columns: {
            id_hash: id,
            user_id: integer,
            step: string(20),
            authenticated_at: instant,
            methods: string(100),
            return_to: text,
            session_hash: id.nullable(),
            expires_at: instant,
          },
          primaryKey: ['id_hash'],
          indexes: {
            pending_sign_ins_by_user: ['user_id'],
            pending_sign_ins_by_end: ['expires_at'],
          },
        })
        await createTable(database, 'passkeys', {
          columns: {
            id_hash: id,
            user_id: integer,
            credential_id: text,
            public_key: text,
            counter: integer,
            transports: string(200),
            name: string(100),
            created_at: instant,
            last_used_at: instant.nullable(),
          },
          primaryKey: ['id_hash'],
          indexes: { passkeys_by_user: ['user_id'] },
        })
        await createTable(database, 'totp_factors', {
          columns: {
            user_id: integer,
            sealed_secret: text,
            last_step: integer,
            created_at: instant,
            last_used_at: instant.nullable(),
          },
          primaryKey: ['user_id'],
        })
        await createTable(database, 'recovery_codes', {
          columns: { hash: id, user_id: integer, created_at: instant, used_at: instant.nullable() },
          primaryKey: ['hash'],
          indexes: { recovery_codes_by_user: ['user_id'] },
        })
        await createTable(database, 'factor_resets', {
          columns: { user_id: integer, reset_at: instant },
          primaryKey: ['user_id'],
        })
        await createTable(database, 'linked_identities', {
          columns: {
            id,
            user_id: integer,
            provider: string(40),
            subject: string(320),
            email: string(254).nullable(),
            created_at: instant,
            used_at: instant,
          },
          primaryKey: ['id'],
          unique: { linked_identities_by_subject: ['provider', 'subject'] },
          indexes: { linked_identities_by_user: ['user_id'] },
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
        await createTable(database, 'account_mails', {
          columns: {
            id: counter,
            message_id: id,
            kind: string(40),
            user_id: integer.nullable(),
            address: string(254),
            locale: string(35),
            details: text,
            state: string(10),
            attempts: integer,
            due_at: instant,
            last_error: text.nullable(),
            created_at: instant,
            finished_at: instant.nullable(),
          },
          indexes: {
            account_mails_by_due: ['state', 'due_at', 'id'],
            account_mails_by_user: ['user_id'],
          },
        })
        await createTable(database, 'account_links', {
          columns: {
            id,
            purpose: string(20),
            user_id: integer.nullable(),
            address: string(254),
            details: text,
            binding: id.nullable(),
            created_at: instant,
            expires_at: instant,
            used_at: instant.nullable(),
          },
          primaryKey: ['id'],
          indexes: { account_links_by_user: ['user_id'], account_links_by_end: ['expires_at'] },
        })
        await createTable(database, 'teams', {
          columns: {
            id,
            name: string(100),
            email: string(254),
            created_at: instant,
            closed_at: instant.nullable(),
          },
          primaryKey: ['id'],
        })
        await createTable(database, 'team_members', {
          columns: { team_id: id, user_id: integer, role: string(10), joined_at: instant },
          primaryKey: ['team_id', 'user_id'],
          indexes: { team_members_by_user: ['user_id', 'team_id'] },
        })
        await createTable(database, 'team_invitations', {
          columns: {
            id_hash: id,
            team_id: id,
            email: string(254),
            email_key: string(254),
            role: string(10),
            invited_by: integer,
            created_at: instant,
            expires_at: instant,
          },
          primaryKey: ['id_hash'],
          indexes: {
            team_invitations_by_team: ['team_id', 'created_at'],
            team_invitations_by_end: ['expires_at'],
          },
        })
      },
    },
    {
      id: '0002-language-of-accounts',
      async up(database, { string }) {
        await addColumn(database, 'users', 'locale', string(35).nullable())
      },
    },
    {
      id: '0003-operators',
      async up(database, { id, string, text, instant, integer }) {
        await addColumn(database, 'users', 'role', string(10).nullable())
        // An interrupted migration may have dropped it already.
        if (await hasColumn(database, 'users', 'operator')) {
          await database.kysely
            .updateTable('users')
            .set({ role: 'owner' })
            .where('operator', '=', 1)
            .execute()
          await database.kysely.schema.alterTable('users').dropColumn('operator').execute()
        }
        await createIndex(database, {
          name: 'users_by_role',
          table: 'users',
          columns: ['role', 'id'],
        })
        await createTable(database, 'audit_entries', {
          columns: {
            id,
            at: instant,
            actor_kind: string(10),
            actor_id: string(191).nullable(),
            door: string(10),
            operation: string(64),
            outcome: string(10),
            subject_kind: string(20).nullable(),
            subject_id: string(191).nullable(),
            owner_id: id.nullable(),
            details: text,
            intent_id: id.nullable(),
            request_id: id.nullable(),
            commitments: text,
            seal: id,
            number: integer.nullable(),
            chained_at: instant.nullable(),
            hash: id.nullable(),
          },
          primaryKey: ['id'],
          unique: { audit_entries_by_number: ['number'] },
          indexes: {
            audit_entries_by_owner: ['owner_id', 'id'],
            audit_entries_by_subject: ['subject_kind', 'subject_id', 'id'],
            audit_entries_by_outcome: ['outcome', 'id'],
            audit_entries_by_actor: ['actor_kind', 'actor_id', 'id'],
            audit_entries_by_operation: ['operation', 'id'],
            audit_entries_by_intent: ['intent_id'],
          },
        })
        await createTable(database, 'audit_personal', {
          columns: { entry_id: id, person: id, salt: id, content: text },
          primaryKey: ['entry_id', 'person'],
          indexes: { audit_personal_by_person: ['person'] },
        })
        await createTable(database, 'admin_requests', {
          columns: {
            key_hash: id,
            request_hash: id,
            created_at: instant,
            response: text.nullable(),
          },
          primaryKey: ['key_hash'],
          indexes: { admin_requests_by_time: ['created_at'] },
        })
      },
    },
  ],
}
