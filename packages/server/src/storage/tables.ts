import { type Database, defineTable, deleteBatch, field } from '@tollgate/database'

/**
 * Definition of the table `users`. The types and mappers of rows derive from these definitions, and
 * a test compares them with the result of the migrations.
 */
export const userTable = defineTable(
  'users',
  {
    id: field.counter,
    email: field.string(254),
    email_key: field.string(254),
    /** When the person proved that mail to the address reaches them. `null` if they never did. */
    email_verified_at: field.instant.nullable(),
    name: field.string(100).nullable(),
    /** `null` for an account whose owner signs in with another provider only. */
    password_hash: field.string(255).nullable(),
    demo: field.flag,
    created_at: field.instant,
    disabled_at: field.instant.nullable(),
    /** The language that the person has chosen for pages and mail. */
    locale: field.string(35).nullable(),
    /** The operator role. `null` for people who only use the service. */
    role: field.string(10).nullable(),
    /** When the person asked to delete the account. `null` unless the deletion is unfinished. */
    leaving_at: field.instant.nullable(),
    /** Incremented by each transaction of `changeWhile()`. */
    turns: field.integer,
  },
  {
    unique: { users_by_email: ['email_key'] },
    indexes: {
      users_by_demo: ['demo'],
      users_by_role: ['role', 'id'],
      users_by_leaving: ['leaving_at'],
    },
  },
)

export const sessionTable = defineTable(
  'sessions',
  {
    id_hash: field.id,
    user_id: field.integer,
    created_at: field.instant,
    seen_at: field.instant,
    expires_at: field.instant,
    /** Network address the session started from, if known. */
    address: field.id.nullable(),
    browser: field.string(100).nullable(),
    /** When the person signed in (`auth_time`). */
    authenticated_at: field.instant,
    /** The methods of the sign-in (`amr`), separated by spaces. */
    methods: field.string(100),
  },
  {
    primaryKey: ['id_hash'],
    indexes: { sessions_by_user: ['user_id'], sessions_by_end: ['expires_at'] },
  },
)

/** Sign-ins whose first factor was right, and which wait for the second one. They are not sessions. */
export const pendingSignInTable = defineTable(
  'pending_sign_ins',
  {
    /** Hash of the cookie's value. */
    id_hash: field.id,
    user_id: field.integer,
    /** `second-factor`, or `enrolment` if the person must first set up a second factor. */
    step: field.string(20),
    authenticated_at: field.instant,
    /** The methods of the first factor, separated by spaces. */
    methods: field.string(100),
    return_to: field.text,
    /** The session that the second factor is added to. `null` if there is none yet. */
    session_hash: field.id.nullable(),
    expires_at: field.instant,
  },
  {
    primaryKey: ['id_hash'],
    indexes: { pending_sign_ins_by_user: ['user_id'], pending_sign_ins_by_end: ['expires_at'] },
  },
)

/** Passkeys (WebAuthn credentials) of people. */
export const passkeyTable = defineTable(
  'passkeys',
  {
    /** Hash of the credential id, which is too long for an index. */
    id_hash: field.id,
    user_id: field.integer,
    credential_id: field.text,
    /** The public key (COSE), in base64url. */
    public_key: field.text,
    /** The signature counter of the last use. Stays 0 for most synchronized passkeys. */
    counter: field.integer,
    /** How the browser reaches the authenticator, separated by spaces. */
    transports: field.string(200),
    name: field.string(100),
    created_at: field.instant,
    last_used_at: field.instant.nullable(),
  },
  { primaryKey: ['id_hash'], indexes: { passkeys_by_user: ['user_id'] } },
)

/** Authenticator apps (TOTP), at most one per person. */
export const totpFactorTable = defineTable(
  'totp_factors',
  {
    user_id: field.integer,
    /** The secret, encrypted with the service's secret. */
    sealed_secret: field.text,
    /** The last time step of which a code was used. No code of it or an earlier one is accepted. */
    last_step: field.integer,
    created_at: field.instant,
    last_used_at: field.instant.nullable(),
  },
  { primaryKey: ['user_id'] },
)

/** Recovery codes, each of which replaces the second factor once. */
export const recoveryCodeTable = defineTable(
  'recovery_codes',
  {
    /** Hash of the user id and the code. */
    hash: field.id,
    user_id: field.integer,
    created_at: field.instant,
    used_at: field.instant.nullable(),
  },
  { primaryKey: ['hash'], indexes: { recovery_codes_by_user: ['user_id'] } },
)

/** People whose second factors an operator has removed, until they have been told. */
export const factorResetTable = defineTable(
  'factor_resets',
  { user_id: field.integer, reset_at: field.instant },
  { primaryKey: ['user_id'] },
)

/** Accounts at other providers that people sign in with. */
export const linkedIdentityTable = defineTable(
  'linked_identities',
  {
    id: field.id,
    user_id: field.integer,
    /** Id of the provider in the setting `signInWith`. */
    provider: field.string(40),
    /** Identifies the person at the provider. */
    subject: field.string(320),
    /** The person's address at the provider when the account was linked. */
    email: field.string(254).nullable(),
    created_at: field.instant,
    used_at: field.instant,
  },
  {
    primaryKey: ['id'],
    unique: { linked_identities_by_subject: ['provider', 'subject'] },
    indexes: { linked_identities_by_user: ['user_id'] },
  },
)

/** Networks that an account was used from successfully. */
export const knownNetworkTable = defineTable(
  'known_networks',
  {
    /** The account and the network: `<account>@<network>`. */
    name: field.string(200),
    account: field.id,
    used_at: field.instant,
  },
  {
    primaryKey: ['name'],
    indexes: {
      known_networks_by_account: ['account', 'used_at'],
      known_networks_by_use: ['used_at'],
    },
  },
)

/** Statistics per day (UTC), such as `2027-03-03`. */
export const dailyStatisticTable = defineTable(
  'daily_figures',
  {
    name: field.id,
    day: field.string(10),
    /** A currency code for money, else empty. */
    unit: field.string(10),
    amount: field.integer,
  },
  { primaryKey: ['name', 'day', 'unit'] },
)

/** Events that have been counted in the statistics. */
export const countedEventTable = defineTable(
  'counted_events',
  { id: field.string(320), counted_at: field.instant },
  { primaryKey: ['id'], indexes: { counted_events_by_time: ['counted_at'] } },
)

/** Table to which the readiness check writes. */
export const writeProbeTable = defineTable(
  'write_probes',
  { id: field.id, written_at: field.instant, filler: field.text },
  { primaryKey: ['id'] },
)

/** The audit log. Entries are only added, and later numbered and chained; never changed otherwise. */
export const auditTable = defineTable(
  'audit_entries',
  {
    /** Sorts by time. */
    id: field.id,
    at: field.instant,
    /** `operator`, `client` or `command`. */
    actor_kind: field.string(10),
    /** User id of the operator, `client_id`, or the name that a command was given. */
    actor_id: field.string(191).nullable(),
    /** `page`, `api` or `command`. */
    door: field.string(10),
    /** Name of the operation, such as `users.disable`. */
    operation: field.string(64),
    /** `done`, `started`, `failed` or `refused`. */
    outcome: field.string(10),
    subject_kind: field.string(20).nullable(),
    subject_id: field.string(191).nullable(),
    /** The account that the subject belongs to, for its timeline. */
    owner_id: field.id.nullable(),
    /** Further facts as JSON, without secrets and personal data. */
    details: field.json<Readonly<Record<string, unknown>>>(),
    /** In an entry with the outcome: id of the entry with the intent. */
    intent_id: field.id.nullable(),
    request_id: field.id.nullable(),
    /**
     * Salted hashes of the personal data, one per person, sorted. The chain contains these hashes,
     * not the data.
     */
    commitments: field.json<readonly string[]>(),
    /**
     * HMAC that proves that a process with the service's secret wrote the entry and, once it is
     * chained, also chained it.
     */
    seal: field.id,
    /** Position in the chain, without gaps. `null` until the entry is chained. */
    number: field.integer.nullable(),
    chained_at: field.instant.nullable(),
    /** Hash of this entry, which contains the hash of the previous one. */
    hash: field.id.nullable(),
  },
  {
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
  },
)

/** Personal data of audit entries, one row per person, deleted with the account. */
export const auditPersonalTable = defineTable(
  'audit_personal',
  {
    entry_id: field.id,
    /** User id of the person, or `team:` and the id of a team. Empty for a machine or a command. */
    person: field.id,
    salt: field.id,
    /** Address, e-mail address and free text, as JSON. */
    content: field.text,
  },
  { primaryKey: ['entry_id', 'person'], indexes: { audit_personal_by_person: ['person'] } },
)

/** Requests to the management API that have an idempotency key, and their responses. */
export const adminRequestTable = defineTable(
  'admin_requests',
  {
    /** Hash of the caller and the key. */
    key_hash: field.id,
    /** Hash of the operation and its input. */
    request_hash: field.id,
    created_at: field.instant,
    /** The response as JSON. `null` while the first request runs, or if it was interrupted. */
    response: field.text.nullable(),
  },
  { primaryKey: ['key_hash'], indexes: { admin_requests_by_time: ['created_at'] } },
)

/** The outbox of mail about accounts. No row contains a link that works: see account-links.ts. */
export const accountMailTable = defineTable(
  'account_mails',
  {
    id: field.counter,
    /** Becomes the `Message-ID`, in every attempt. */
    message_id: field.id,
    kind: field.string(40),
    /** The account that the mail is about. `null` while only an address is known. */
    user_id: field.integer.nullable(),
    address: field.string(254),
    /** Language of the page that caused the mail, unless the account has one. */
    locale: field.string(35),
    details: field.json<MailDetailsRow>(),
    /** `pending`, `done` or `dead`. */
    state: field.string(10),
    attempts: field.integer,
    due_at: field.instant,
    last_error: field.text.nullable(),
    created_at: field.instant,
    finished_at: field.instant.nullable(),
  },
  {
    indexes: {
      account_mails_by_due: ['state', 'due_at', 'id'],
      account_mails_by_user: ['user_id'],
    },
  },
)

/** Teams, which own subscriptions like users do. Billing adds the columns of the customer. */
export const teamTable = defineTable(
  'teams',
  {
    /** Sorts by time. */
    id: field.id,
    name: field.string(100),
    /** Address for invoices and mail about payments: that of an owner. */
    email: field.string(254),
    created_at: field.instant,
    /** Set while the team is being deleted. Its pages no longer exist. */
    closed_at: field.instant.nullable(),
  },
  { primaryKey: ['id'] },
)

export const teamMemberTable = defineTable(
  'team_members',
  {
    team_id: field.id,
    user_id: field.integer,
    role: field.string(10),
    joined_at: field.instant,
  },
  { primaryKey: ['team_id', 'user_id'], indexes: { team_members_by_user: ['user_id', 'team_id'] } },
)

/** Invitations that have been neither accepted nor withdrawn. */
export const teamInvitationTable = defineTable(
  'team_invitations',
  {
    /** Hash of the token in the link. */
    id_hash: field.id,
    team_id: field.id,
    /** The address of the only account that can accept it. */
    email: field.string(254),
    email_key: field.string(254),
    role: field.string(10),
    /** User id of the member who wrote it. */
    invited_by: field.integer,
    created_at: field.instant,
    expires_at: field.instant,
  },
  {
    primaryKey: ['id_hash'],
    indexes: {
      team_invitations_by_team: ['team_id', 'created_at'],
      team_invitations_by_end: ['expires_at'],
    },
  },
)

/** Further data of a mail in the outbox, as JSON. */
export interface MailDetailsRow {
  readonly name?: string | null
  /** Local path to continue at. */
  readonly returnTo?: string
  /** State of the account when the mail was requested: see `computeAccountBinding()`. */
  readonly binding?: string
  /** User id of the person who invites to a team. */
  readonly inviter?: number
  /** Another address, or the ways to sign in, that the mail names. */
  readonly other?: string
  /** Public id of the link in the mail, which cannot be used without the service's secret. */
  readonly link?: string
}

/** Links in mail that work once. */
export const accountLinkTable = defineTable(
  'account_links',
  {
    /** Public part of the link. The other part is an HMAC of it, and is never stored. */
    id: field.id,
    purpose: field.string(20),
    /** `null` for a link that creates an account. */
    user_id: field.integer.nullable(),
    /** The address that the link was sent to. */
    address: field.string(254),
    details: field.json<LinkDetailsRow>(),
    /** State of the account for which the link was made: see `computeAccountBinding()`. */
    binding: field.id.nullable(),
    created_at: field.instant,
    expires_at: field.instant,
    used_at: field.instant.nullable(),
  },
  {
    primaryKey: ['id'],
    indexes: { account_links_by_user: ['user_id'], account_links_by_end: ['expires_at'] },
  },
)

/** Further data of a link, as JSON. */
export interface LinkDetailsRow {
  readonly name?: string | null
  /** Local path to continue at. */
  readonly returnTo?: string
}

/** All tables of the service. */
export const serviceTables = [
  userTable,
  sessionTable,
  pendingSignInTable,
  passkeyTable,
  totpFactorTable,
  recoveryCodeTable,
  factorResetTable,
  linkedIdentityTable,
  knownNetworkTable,
  dailyStatisticTable,
  countedEventTable,
  writeProbeTable,
  auditTable,
  auditPersonalTable,
  adminRequestTable,
  accountMailTable,
  accountLinkTable,
  teamTable,
  teamMemberTable,
  teamInvitationTable,
]

/**
 * A row of the table `users`, with two columns that billing adds. They are missing until billing
 * has migrated its tables.
 */
export type UserRow = ReturnType<typeof userTable.toRow> & {
  provider?: string | null | undefined
  provider_id?: string | null | undefined
}
/** A row of the table `teams`, with two columns that billing adds, as for users. */
export type TeamRow = ReturnType<typeof teamTable.toRow> & {
  provider?: string | null | undefined
  provider_id?: string | null | undefined
}
export type SessionRow = ReturnType<typeof sessionTable.toRow>
export type PasskeyRow = ReturnType<typeof passkeyTable.toRow>
export type LinkedIdentityRow = ReturnType<typeof linkedIdentityTable.toRow>

export interface ServiceTables {
  users: UserRow
  sessions: SessionRow
  pending_sign_ins: ReturnType<typeof pendingSignInTable.toRow>
  passkeys: PasskeyRow
  totp_factors: ReturnType<typeof totpFactorTable.toRow>
  recovery_codes: ReturnType<typeof recoveryCodeTable.toRow>
  factor_resets: ReturnType<typeof factorResetTable.toRow>
  linked_identities: LinkedIdentityRow
  known_networks: ReturnType<typeof knownNetworkTable.toRow>
  daily_figures: ReturnType<typeof dailyStatisticTable.toRow>
  counted_events: ReturnType<typeof countedEventTable.toRow>
  write_probes: ReturnType<typeof writeProbeTable.toRow>
  audit_entries: ReturnType<typeof auditTable.toRow>
  audit_personal: ReturnType<typeof auditPersonalTable.toRow>
  admin_requests: ReturnType<typeof adminRequestTable.toRow>
  account_mails: ReturnType<typeof accountMailTable.toRow>
  account_links: ReturnType<typeof accountLinkTable.toRow>
  teams: TeamRow
  team_members: ReturnType<typeof teamMemberTable.toRow>
  team_invitations: ReturnType<typeof teamInvitationTable.toRow>
}

/** A database with the tables of the service. */
export type ServiceDatabase = Database<ServiceTables>

const BATCH_SIZE = 500

/** Deletes all matching rows in batches, so that no lock is held for long. Returns their number. */
export async function deleteInBatches(
  database: Database,
  rows: Omit<Parameters<typeof deleteBatch>[1], 'limit'>,
): Promise<number> {
  for (let total = 0; ; ) {
    const deleted = await deleteBatch(database, { ...rows, limit: BATCH_SIZE })
    total += deleted
    if (deleted < BATCH_SIZE) return total
  }
}
