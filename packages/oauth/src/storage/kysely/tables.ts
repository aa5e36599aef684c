import { defineTable, field } from '@tollgate/database'
import type { ClientSettings } from '../client-settings.ts'
import type { GrantDetails } from '../details.ts'
import type { Client, RevocationKind } from '../records.ts'
import type { ClientChange } from '../repositories.ts'

/**
 * Each table once: rows, records, mappers, columns and parameters follow from here. What has been
 * migrated already is in `migrations.ts`, and a test compares the two on every database.
 */
export interface OAuthTables {
  oauth_clients: ClientRow
  oauth_tokens: TokenRow
  oauth_authorization_codes: CodeRow
  oauth_interactions: ReturnType<typeof interactionTable.toRow>
  oauth_consents: ConsentRow
  oauth_tickets: TicketRow
  oauth_limits: LimitRow
  oauth_sessions: SessionRow
  oauth_logouts: LogoutRow
  oauth_keys: ReturnType<typeof keyTable.toRow>
  oauth_revocations: RevocationRow
  oauth_heartbeats: ReturnType<typeof heartbeatTable.toRow>
}

export type ClientRow = ReturnType<typeof clientTable.toRow>
export type TokenRow = ReturnType<typeof tokenTable.toRow>
export type CodeRow = ReturnType<typeof codeTable.toRow>
export type InteractionRow = ReturnType<typeof interactionTable.toRow>
export type ConsentRow = ReturnType<typeof consentTable.toRow>
export type TicketRow = ReturnType<typeof ticketTable.toRow>
export type LimitRow = ReturnType<typeof limitTable.toRow>
export type SessionRow = ReturnType<typeof sessionTable.toRow>
export type LogoutRow = ReturnType<typeof logoutTable.toRow>
export type RevocationRow = ReturnType<typeof revocationTable.toRow>

const user = field.string(255)
const list = field.json<readonly string[]>()
const details = field.json<GrantDetails>().nullable()

export const clientTable = defineTable(
  'oauth_clients',
  {
    id: field.id,
    user_id: user.nullable(),
    name: field.string(255),
    /** 0 for public clients; whatever else stands here, a secret is needed. */
    confidential: field.flag.nullable(),
    secret_hash: field.id.nullable(),
    secret_version: field.integer,
    redirect_uris: list,
    grant_types: list,
    /** 1: any defined scope. Only `scopes` counts for all others. */
    any_scope: field.flag.nullable(),
    scopes: list.nullable(),
    first_party: field.flag,
    resource_server: field.flag,
    revoked_at: field.instant.nullable(),
    created_at: field.instant,
    updated_at: field.instant,
    settings: field.json<ClientSettings>().nullable(),
  },
  { primaryKey: ['id'], indexes: { oauth_clients_by_user: ['user_id'] } },
)

const changeOfClient = clientTable.pick(
  'name',
  'redirect_uris',
  'grant_types',
  'scopes',
  'any_scope',
  'secret_hash',
  'secret_version',
  'settings',
  'revoked_at',
  'updated_at',
)

/** The one table whose records are not what its columns say, one by one. */
export const clientRow = {
  toRow: (client: Client): ClientRow =>
    clientTable.toRow({ ...client, anyScope: client.scopes === null }),

  toChange: (change: ClientChange): Partial<ClientRow> =>
    changeOfClient.toChange(
      change.scopes === undefined ? change : { ...change, anyScope: change.scopes === null },
    ),

  fromRow(row: ClientRow): Client {
    const { anyScope, ...client } = clientTable.fromRow(row)
    return {
      ...client,
      // Permissions are written down: what is missing allows nothing.
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
  },
  {
    primaryKey: ['id'],
    indexes: {
      oauth_tokens_by_user: ['user_id', 'client_id'],
      oauth_tokens_by_end: ['live_until'],
    },
  },
)

/** What a rotation gives back: the rest is known to whoever asked for it. */
export const keptOfToken = tokenTable.pick(
  'user_id',
  'grant_type',
  'name',
  'scopes',
  'previous_expires_at',
  'late_generation',
  'live_until',
  'created_at',
  'details',
)
export const detailsOfToken = tokenTable.pick('details')
export type KeptRow = ReturnType<typeof keptOfToken.toRow>

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
    /** Whose share it takes; null once it was used. */
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

/** A count, or one place of a limit. */
export const limitTable = defineTable(
  'oauth_limits',
  {
    name: field.string(200),
    points: field.integer,
    /** Of a place: the check that is not finished. */
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
    /** Both null where an older version wrote it. */
    mark: field.id.nullable(),
    written_at: field.instant.nullable(),
  },
  {
    indexes: { oauth_revocations_by_end: ['until'], oauth_revocations_by_time: ['written_at'] },
  },
)

/** An entry before the store has numbered and marked it. */
export const newRevocation = revocationTable.pick('kind', 'subject', 'at', 'until')

/** One row, by which a process notices that it reads another server than the one that takes its writes. */
const heartbeatTable = defineTable(
  'oauth_heartbeats',
  {
    id: field.id,
    beat: field.integer,
    /** By the database's clock. */
    beaten_at: field.instant,
  },
  { primaryKey: ['id'] },
)

/** All of them. */
export const oauthTables = [
  clientTable,
  tokenTable,
  codeTable,
  interactionTable,
  consentTable,
  ticketTable,
  limitTable,
  sessionTable,
  logoutTable,
  keyTable,
  revocationTable,
  heartbeatTable,
]
