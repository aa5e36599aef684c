import { defineTable, field } from '@tollgate/database'
import type { ClientSettings } from '../client-settings.ts'
import type { GrantDetails } from '../details.ts'
import type { Client, RevocationKind } from '../records.ts'
import type { ClientChange } from '../repositories.ts'

/**
 * The table definitions. Row types, records, mappers, columns, parameters and the first migration
 * are derived from them.
 */

const user = field.string(255)
const list = field.json<readonly string[]>()
const details = field.json<GrantDetails>().nullable()

export const clientTable = defineTable(
  'oauth_clients',
  {
    id: field.id,
    user_id: user.nullable(),
    name: field.string(255),
    /** 0 for public clients. Every other value means that a secret is required. */
    confidential: field.flag.nullable(),
    secret_hash: field.id.nullable(),
    secret_version: field.integer,
    redirect_uris: list,
    grant_types: list,
    /** 1 if the client may request any defined scope. Otherwise only `scopes` counts. */
    any_scope: field.flag.nullable(),
    scopes: list.nullable(),
    first_party: field.flag,
    resource_server: field.flag,
    revoked_at: field.instant.nullable(),
    created_at: field.instant,
    updated_at: field.instant,
    settings: field.json<ClientSettings>().nullable(),
    /** Kept out of `Client`, because cached clients would show an old value. */
    last_used_at: field.instant.nullable(),
  },
  {
    primaryKey: ['id'],
    indexes: {
      oauth_clients_by_user: ['user_id'],
      oauth_clients_by_age: ['created_at', 'id'],
    },
  },
)

const changeOfClient = clientTable.pick(
  'name',
  'redirect_uris',
  'grant_types',
  'scopes',
  'any_scope',
  'first_party',
  'resource_server',
  'secret_hash',
  'secret_version',
  'settings',
  'revoked_at',
  'updated_at',
)

/**
 * Converts between clients and their table rows. Clients are the only records whose fields differ
 * from the columns.
 */
export const clientRow = {
  toRow: (client: Client): ClientRow =>
    clientTable.toRow({ ...client, anyScope: client.scopes === null, lastUsedAt: null }),

  toChange: (change: ClientChange): Partial<ClientRow> =>
    changeOfClient.toChange(
      change.scopes === undefined ? change : { ...change, anyScope: change.scopes === null },
    ),

  fromRow(row: ClientRow): Client {
    const { anyScope, lastUsedAt: _, ...client } = clientTable.fromRow(row)
    return {
      ...client,
      // Fail closed: a missing value grants no permission.
      confidential: row.confidential !== 0,
      scopes: anyScope ? null : (client.scopes ?? []),
      settings: client.settings ?? {},
    }
  },
}

export const tokenTable = defineTable(
  'oauth_tokens',
  {
    id: field.id,
    client_id: field.id,
    user_id: user.nullable(),
    grant_type: field.id,
    name: field.string(255).nullable(),
    scopes: list,
    generation: field.integer,
    client_secret_version: field.integer,
    issued_at: field.instant,
    expires_at: field.instant,
    refresh_expires_at: field.instant.nullable(),
    previous_expires_at: field.instant.nullable(),
    late_generation: field.integer.nullable(),
    live_until: field.instant,
    revoked_at: field.instant.nullable(),
    created_at: field.instant,
    details,
    last_used_at: field.instant.nullable(),
  },
  {
    primaryKey: ['id'],
    indexes: {
      oauth_tokens_by_user: ['user_id', 'client_id'],
      oauth_tokens_by_end: ['live_until'],
      oauth_tokens_by_client: ['client_id', 'id'],
    },
  },
)

/**
 * The columns of a token that rotating it does not change. Only they are read back from the
 * database; the caller knows the others.
 */
export const unchangedTokenColumns = tokenTable.pick(
  'user_id',
  'grant_type',
  'name',
  'scopes',
  'previous_expires_at',
  'late_generation',
  'live_until',
  'created_at',
  'details',
  'last_used_at',
)
export const tokenDetailsColumn = tokenTable.pick('details')
export type UnchangedTokenRow = ReturnType<typeof unchangedTokenColumns.toRow>

export const codeTable = defineTable(
  'oauth_authorization_codes',
  {
    hash: field.id,
    token_id: field.id,
    client_id: field.id,
    user_id: user,
    redirect_uri: field.text.nullable(),
    scopes: list,
    code_challenge: field.id.nullable(),
    expires_at: field.instant,
    used_at: field.instant.nullable(),
    details,
  },
  {
    primaryKey: ['hash'],
    indexes: { oauth_codes_by_user: ['user_id', 'client_id'], oauth_codes_by_end: ['expires_at'] },
  },
)

export const interactionTable = defineTable(
  'oauth_interactions',
  {
    hash: field.id,
    client_id: field.id,
    user_id: user,
    session_id: field.string(255).nullable(),
    response_type: field.id,
    redirect_to: field.text,
    redirect_uri: field.text.nullable(),
    scopes: list,
    state: field.text.nullable(),
    code_challenge: field.id.nullable(),
    created_at: field.instant,
    expires_at: field.instant,
    decided_at: field.instant.nullable(),
    details,
  },
  {
    primaryKey: ['hash'],
    indexes: {
      oauth_interactions_by_user: ['user_id', 'created_at'],
      oauth_interactions_by_end: ['expires_at'],
    },
  },
)

export const consentTable = defineTable(
  'oauth_consents',
  {
    user_id: user,
    client_id: field.id,
    scopes: list,
    updated_at: field.instant,
    declined: list.nullable(),
  },
  { primaryKey: ['user_id', 'client_id'] },
)

export const ticketTable = defineTable(
  'oauth_tickets',
  {
    hash: field.id,
    kind: field.id,
    content: field.text,
    expires_at: field.instant,
    /** Owner of the share that the ticket counts against. `null` once the ticket was used. */
    holder: field.string(100).nullable(),
  },
  {
    primaryKey: ['hash'],
    indexes: {
      oauth_tickets_by_end: ['expires_at'],
      oauth_tickets_by_holder: ['kind', 'holder', 'expires_at'],
    },
  },
)

/** Table of limits. Each row is a counter, or one place of a limit on failed checks. */
export const limitTable = defineTable(
  'oauth_limits',
  {
    name: field.string(200),
    points: field.integer,
    /**
     * Id of the check that occupies the place. `null` for a counter, and for the place of a failed
     * check.
     */
    holder: field.id.nullable(),
    expires_at: field.instant,
  },
  { primaryKey: ['name'], indexes: { oauth_limits_by_end: ['expires_at'] } },
)

export const sessionTable = defineTable(
  'oauth_sessions',
  {
    sid: field.id,
    session_id: field.id,
    client_id: field.id,
    user_id: user,
    created_at: field.instant,
    seen_at: field.instant,
    live_until: field.instant,
  },
  {
    primaryKey: ['sid'],
    indexes: {
      oauth_sessions_by_session: ['session_id'],
      oauth_sessions_by_user: ['user_id'],
      oauth_sessions_by_end: ['live_until'],
    },
  },
)

export const logoutTable = defineTable(
  'oauth_logouts',
  {
    id: field.id,
    client_id: field.id,
    user_id: user,
    sid: field.id,
    attempts: field.integer,
    due_at: field.instant,
    expires_at: field.instant,
  },
  {
    primaryKey: ['id'],
    indexes: {
      oauth_logouts_by_due: ['due_at'],
      oauth_logouts_by_client: ['client_id'],
      oauth_logouts_by_end: ['expires_at'],
    },
  },
)

export const keyTable = defineTable(
  'oauth_keys',
  {
    kid: field.id,
    algorithm: field.id,
    public_jwk: field.text,
    sealed_private_jwk: field.text,
    created_at: field.instant,
    active_from: field.instant,
  },
  { primaryKey: ['kid'] },
)

export const revocationTable = defineTable(
  'oauth_revocations',
  {
    id: field.counter,
    kind: field.id.as<RevocationKind>(),
    subject: field.string(255),
    at: field.instant,
    until: field.instant,
    mark: field.id,
    written_at: field.instant,
  },
  {
    indexes: { oauth_revocations_by_end: ['until'], oauth_revocations_by_time: ['written_at'] },
  },
)

/** The columns of a new revocation that the caller provides. The store sets the others. */
export const newRevocationColumns = revocationTable.pick('kind', 'subject', 'at', 'until')

/**
 * A single row whose count reveals that a process reads from a replica that lags behind the
 * primary.
 */
const heartbeatTable = defineTable(
  'oauth_heartbeats',
  {
    id: field.id,
    beat: field.integer,
    /** Time of the last beat, by the database's clock. */
    beaten_at: field.instant,
  },
  { primaryKey: ['id'] },
)

const tables = {
  oauth_clients: clientTable,
  oauth_tokens: tokenTable,
  oauth_authorization_codes: codeTable,
  oauth_interactions: interactionTable,
  oauth_consents: consentTable,
  oauth_tickets: ticketTable,
  oauth_limits: limitTable,
  oauth_sessions: sessionTable,
  oauth_logouts: logoutTable,
  oauth_keys: keyTable,
  oauth_revocations: revocationTable,
  oauth_heartbeats: heartbeatTable,
}

/** All tables of the authorization server. */
export const oauthTables = Object.values(tables)

/** Row types by table name. */
export type OAuthTables = {
  [Name in keyof typeof tables]: ReturnType<(typeof tables)[Name]['toRow']>
}

export type ClientRow = OAuthTables['oauth_clients']
export type TokenRow = OAuthTables['oauth_tokens']
export type CodeRow = OAuthTables['oauth_authorization_codes']
export type InteractionRow = OAuthTables['oauth_interactions']
export type ConsentRow = OAuthTables['oauth_consents']
export type TicketRow = OAuthTables['oauth_tickets']
export type LimitRow = OAuthTables['oauth_limits']
export type SessionRow = OAuthTables['oauth_sessions']
export type RevocationRow = OAuthTables['oauth_revocations']
