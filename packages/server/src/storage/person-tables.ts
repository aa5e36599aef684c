import { type DefinedTable, defineTable, field } from '@tollgate/database'

/** Ids of a person's account, in the forms in which tables store them. */
export interface PersonIds {
  /** Id of the account, as a number. */
  readonly number: number
  /** Id of the account, as text. */
  readonly text: string
  /** The hashed names under which the networks of the account are remembered. */
  readonly accounts: readonly string[]
}

/** A condition on a column: one of the person's keys, or rows of another table of the list. */
type Owned = Readonly<
  Record<
    string,
    | keyof PersonIds
    | { readonly equals: string }
    | { readonly column: string; readonly of: 'subscriptions' | 'team_members' }
  >
>

/** A table with data about people, and the part of it that an export contains. */
export interface PersonTable {
  /** Name of the section in the export. */
  readonly section: string
  /** The exported columns. */
  readonly shown: Pick<DefinedTable<unknown>, 'name' | 'fromRow'> & {
    readonly columns: readonly string[]
  }
  /** Columns that are not exported, each with the reason. */
  readonly withheld: Readonly<Record<string, string>>
  /**
   * Condition for a row to belong to the person. If there are several, a row must meet at least
   * one.
   */
  readonly owned: Owned | readonly Owned[]
  /** Column values: rows of the person that have all of them are not exported. */
  readonly except?: Readonly<Record<string, string | null>>
  /** A column that is unique among the rows of a person. Rows are exported in its order. */
  readonly key: string
}

const list = field.json<readonly string[]>()
const json = field.json<unknown>()
const text = field.text
const instant = field.instant
const timestamp = field.timestamp

const SECRET = 'secret, or a hash of one'
const INTERNAL = 'internal bookkeeping without meaning for the person'
const IS_PERSON = 'the person whose data is exported'
const OF_TEAM = 'the payment data of a team, which most members may not see'
const OWNER = { owner_type: IS_PERSON, owner_id: IS_PERSON }
const OWNED_BY_USER = { owner_type: { equals: 'user' }, owner_id: 'text' } as const
const ATTEMPTS = {
  attempts: INTERNAL,
  due_at: INTERNAL,
  last_error: INTERNAL,
  finished_at: INTERNAL,
}

/**
 * Every table with data about people. The export of a person's data is derived from this list, and a
 * test fails if a table or a column of the database is neither here nor in `tablesWithoutPeople`.
 */
export const personTables: readonly PersonTable[] = [
  {
    section: 'account',
    shown: defineTable('users', {
      id: field.integer,
      email: text,
      name: text.nullable(),
      locale: text.nullable(),
      role: text.nullable(),
      email_verified_at: instant.nullable(),
      created_at: instant,
      disabled_at: instant.nullable(),
      leaving_at: instant.nullable(),
      provider: text.nullable(),
      provider_id: text.nullable(),
      card_brand: text.nullable(),
      card_last_four: text.nullable(),
      card_expires: text.nullable(),
      paypal_email: text.nullable(),
      trial_ends_at: timestamp.nullable(),
    }),
    withheld: {
      email_key: 'the e-mail address in another spelling',
      password_hash: SECRET,
      demo: INTERNAL,
      turns: INTERNAL,
    },
    owned: { id: 'number' },
    key: 'id',
  },
  {
    section: 'sessions',
    shown: defineTable('sessions', {
      created_at: instant,
      seen_at: instant,
      expires_at: instant,
      address: text.nullable(),
      browser: text.nullable(),
      authenticated_at: instant,
      methods: text,
    }),
    withheld: { id_hash: SECRET, user_id: IS_PERSON },
    owned: { user_id: 'number' },
    key: 'id_hash',
  },
  {
    section: 'unfinished_sign_ins',
    shown: defineTable('pending_sign_ins', {
      step: text,
      authenticated_at: instant,
      methods: text,
      expires_at: instant,
    }),
    withheld: {
      id_hash: SECRET,
      user_id: IS_PERSON,
      session_hash: SECRET,
      return_to: 'may contain values that only the application may know',
    },
    owned: { user_id: 'number' },
    key: 'id_hash',
  },
  {
    section: 'passkeys',
    shown: defineTable('passkeys', {
      name: text,
      transports: text,
      created_at: instant,
      last_used_at: instant.nullable(),
    }),
    withheld: {
      id_hash: INTERNAL,
      user_id: IS_PERSON,
      credential_id: INTERNAL,
      public_key: INTERNAL,
      counter: INTERNAL,
    },
    owned: { user_id: 'number' },
    key: 'id_hash',
  },
  {
    section: 'authenticator_apps',
    shown: defineTable('totp_factors', { created_at: instant, last_used_at: instant.nullable() }),
    withheld: { user_id: IS_PERSON, sealed_secret: SECRET, last_step: INTERNAL },
    owned: { user_id: 'number' },
    key: 'user_id',
  },
  {
    section: 'recovery_codes',
    shown: defineTable('recovery_codes', { created_at: instant, used_at: instant.nullable() }),
    withheld: { hash: SECRET, user_id: IS_PERSON },
    owned: { user_id: 'number' },
    key: 'hash',
  },
  {
    section: 'removed_second_factors',
    shown: defineTable('factor_resets', { reset_at: instant }),
    withheld: { user_id: IS_PERSON },
    owned: { user_id: 'number' },
    key: 'user_id',
  },
  {
    section: 'accounts_at_other_providers',
    shown: defineTable('linked_identities', {
      provider: text,
      subject: text,
      email: text.nullable(),
      created_at: instant,
      used_at: instant,
    }),
    withheld: { id: INTERNAL, user_id: IS_PERSON },
    owned: { user_id: 'number' },
    key: 'id',
  },
  {
    section: 'mail_about_the_account',
    shown: defineTable('account_mails', {
      kind: text,
      address: text,
      locale: text,
      state: text,
      created_at: instant,
      finished_at: instant.nullable(),
    }),
    withheld: {
      id: INTERNAL,
      message_id: INTERNAL,
      user_id: IS_PERSON,
      details: SECRET,
      attempts: INTERNAL,
      due_at: INTERNAL,
      last_error: INTERNAL,
    },
    owned: { user_id: 'number' },
    // What became of it would say whether the requested address has an account (threat Q11).
    except: { kind: 'address_change' },
    key: 'id',
  },
  {
    section: 'links_in_mail',
    shown: defineTable('account_links', {
      purpose: text,
      address: text,
      created_at: instant,
      expires_at: instant,
      used_at: instant.nullable(),
    }),
    withheld: { id: SECRET, user_id: IS_PERSON, details: INTERNAL, binding: SECRET },
    owned: { user_id: 'number' },
    // There is one only if the requested address has no account (threat Q11).
    except: { purpose: 'change', used_at: null },
    key: 'id',
  },
  {
    section: 'memberships',
    shown: defineTable('team_members', { team_id: text, role: text, joined_at: instant }),
    withheld: { user_id: IS_PERSON },
    owned: { user_id: 'number' },
    key: 'team_id',
  },
  {
    section: 'teams',
    shown: defineTable('teams', {
      id: text,
      name: text,
      created_at: instant,
      closed_at: instant.nullable(),
    }),
    withheld: {
      email: OF_TEAM,
      provider: OF_TEAM,
      provider_id: OF_TEAM,
      card_brand: OF_TEAM,
      card_last_four: OF_TEAM,
      card_expires: OF_TEAM,
      paypal_email: OF_TEAM,
      trial_ends_at: OF_TEAM,
    },
    owned: { id: { column: 'team_id', of: 'team_members' } },
    key: 'id',
  },
  {
    section: 'invitations_to_teams',
    shown: defineTable('team_invitations', {
      team_id: text,
      role: text,
      created_at: instant,
      expires_at: instant,
    }),
    withheld: {
      id_hash: SECRET,
      invited_by: IS_PERSON,
      email: 'another person',
      email_key: 'another person',
    },
    owned: { invited_by: 'number' },
    key: 'id_hash',
  },
  {
    section: 'known_networks',
    shown: defineTable('known_networks', { name: text, used_at: instant }),
    withheld: { account: 'part of the name' },
    owned: { account: 'accounts' },
    key: 'name',
  },
  {
    section: 'registered_clients',
    shown: defineTable('oauth_clients', {
      id: text,
      name: text,
      redirect_uris: list,
      grant_types: list,
      scopes: list.nullable(),
      settings: json.nullable(),
      created_at: instant,
      updated_at: instant,
      revoked_at: instant.nullable(),
      last_used_at: instant.nullable(),
    }),
    withheld: {
      user_id: IS_PERSON,
      secret_hash: SECRET,
      secret_version: INTERNAL,
      confidential: INTERNAL,
      any_scope: INTERNAL,
      first_party: INTERNAL,
      resource_server: INTERNAL,
    },
    owned: { user_id: 'text' },
    key: 'id',
  },
  {
    section: 'approved_applications',
    shown: defineTable('oauth_consents', {
      client_id: text,
      scopes: list,
      declined: list.nullable(),
      updated_at: instant,
    }),
    withheld: { user_id: IS_PERSON },
    owned: { user_id: 'text' },
    key: 'client_id',
  },
  {
    section: 'tokens',
    shown: defineTable('oauth_tokens', {
      client_id: text,
      grant_type: text,
      name: text.nullable(),
      scopes: list,
      created_at: instant,
      issued_at: instant,
      expires_at: instant,
      refresh_expires_at: instant.nullable(),
      revoked_at: instant.nullable(),
      last_used_at: instant.nullable(),
    }),
    withheld: {
      id: INTERNAL,
      user_id: IS_PERSON,
      generation: INTERNAL,
      client_secret_version: INTERNAL,
      previous_expires_at: INTERNAL,
      late_generation: INTERNAL,
      live_until: INTERNAL,
      details: 'claims and keys that the application added, which may be secret',
    },
    owned: { user_id: 'text' },
    key: 'id',
  },
  {
    section: 'authorization_codes',
    shown: defineTable('oauth_authorization_codes', {
      client_id: text,
      redirect_uri: text.nullable(),
      scopes: list,
      expires_at: instant,
      used_at: instant.nullable(),
    }),
    withheld: {
      hash: SECRET,
      user_id: IS_PERSON,
      token_id: INTERNAL,
      code_challenge: SECRET,
      details: 'claims and keys that the application added, which may be secret',
    },
    owned: { user_id: 'text' },
    key: 'hash',
  },
  {
    section: 'pending_requests',
    shown: defineTable('oauth_interactions', {
      client_id: text,
      scopes: list,
      created_at: instant,
      expires_at: instant,
      decided_at: instant.nullable(),
    }),
    withheld: {
      hash: SECRET,
      user_id: IS_PERSON,
      session_id: SECRET,
      response_type: INTERNAL,
      redirect_to: 'may contain values that only the application may know',
      redirect_uri: 'may contain values that only the application may know',
      state: 'a value that only the application may know',
      code_challenge: SECRET,
      details: 'claims and keys that the application added, which may be secret',
    },
    owned: { user_id: 'text' },
    key: 'hash',
  },
  {
    section: 'application_sessions',
    shown: defineTable('oauth_sessions', {
      client_id: text,
      created_at: instant,
      seen_at: instant,
      live_until: instant,
    }),
    withheld: { sid: SECRET, session_id: SECRET, user_id: IS_PERSON },
    owned: { user_id: 'text' },
    key: 'sid',
  },
  {
    section: 'pending_logouts',
    shown: defineTable('oauth_logouts', { client_id: text, expires_at: instant }),
    withheld: {
      id: INTERNAL,
      user_id: IS_PERSON,
      sid: SECRET,
      attempts: INTERNAL,
      due_at: INTERNAL,
    },
    owned: { user_id: 'text' },
    key: 'id',
  },
  {
    section: 'subscriptions',
    shown: defineTable('subscriptions', {
      id: field.integer,
      name: text,
      provider: text,
      provider_id: text,
      provider_plan: text,
      provider_status: text,
      provider_customer: text.nullable(),
      quantity: field.integer,
      trial_ends_at: timestamp.nullable(),
      ends_at: timestamp.nullable(),
      paused_at: timestamp.nullable(),
      disputed_at: timestamp.nullable(),
      planned_price: text.nullable(),
      planned_at: timestamp.nullable(),
      period_starts_at: timestamp.nullable(),
      period_ends_at: timestamp.nullable(),
      created_at: timestamp,
      updated_at: timestamp,
    }),
    withheld: { user_id: IS_PERSON, ...OWNER },
    owned: { user_id: 'number' },
    key: 'id',
  },
  {
    section: 'subscription_items',
    shown: defineTable('billing_subscription_items', {
      subscription_id: field.integer,
      provider: text,
      provider_id: text,
      provider_plan: text,
      provider_product: text.nullable(),
      quantity: field.integer.nullable(),
      created_at: timestamp,
      updated_at: timestamp,
    }),
    withheld: { id: INTERNAL },
    owned: { subscription_id: { column: 'id', of: 'subscriptions' } },
    key: 'id',
  },
  {
    section: 'disputes',
    shown: defineTable('billing_disputes', {
      provider: text,
      provider_id: text,
      subscription_id: field.integer.nullable(),
      charge: text,
      invoice: text.nullable(),
      amount: field.integer,
      currency: text,
      reason: text.nullable(),
      status: text,
      opened_at: instant,
      closed_at: instant.nullable(),
    }),
    withheld: OWNER,
    owned: OWNED_BY_USER,
    key: 'provider_id',
  },
  {
    section: 'promotion_code_attempts',
    shown: defineTable('billing_code_attempts', { attempts: field.integer, expires_at: instant }),
    withheld: OWNER,
    owned: OWNED_BY_USER,
    key: 'owner_id',
  },
  {
    section: 'customer_transfers',
    shown: defineTable('billing_transfers', {
      provider: text,
      provider_customer: text,
      had_trial: field.flag,
      created_at: instant,
    }),
    withheld: {
      id: INTERNAL,
      from_type: 'the other owner may be another person',
      from_id: 'the other owner may be another person',
      to_type: 'the other owner may be another person',
      to_id: 'the other owner may be another person',
    },
    owned: [
      { from_type: { equals: 'user' }, from_id: 'text' },
      { to_type: { equals: 'user' }, to_id: 'text' },
    ],
    key: 'id',
  },
  {
    section: 'unfinished_billing_operations',
    shown: defineTable('billing_operations', {
      kind: text,
      name: text.nullable(),
      created_at: instant,
    }),
    withheld: {
      id: INTERNAL,
      user_id: IS_PERSON,
      ...OWNER,
      fingerprint: INTERNAL,
      request: 'may contain the token of a payment method',
    },
    owned: { user_id: 'number' },
    key: 'id',
  },
  {
    section: 'subscription_taxes',
    shown: defineTable('billing_taxes', {
      provider: text,
      provider_id: text,
      since: instant,
      tax: field.integer,
      net: field.integer,
    }),
    withheld: {},
    owned: { provider_id: { column: 'provider_id', of: 'subscriptions' } },
    key: 'since',
  },
  {
    section: 'usage',
    shown: defineTable('billing_usage', {
      reference: text,
      provider: text,
      subscription_id: field.integer.nullable(),
      meter: text,
      value: text,
      at: instant,
      created_at: instant,
      state: text,
    }),
    withheld: {
      ...OWNER,
      ...ATTEMPTS,
      id: INTERNAL,
      identifier: INTERNAL,
      batch: INTERNAL,
      asked_at: INTERNAL,
      provider_customer: INTERNAL,
    },
    owned: OWNED_BY_USER,
    key: 'id',
  },
  {
    section: 'usage_periods',
    shown: defineTable('billing_usage_batches', {
      subscription_id: field.integer,
      period_from: instant,
      period_to: instant.nullable(),
      bill: json.nullable(),
      created_at: instant,
    }),
    withheld: { id: INTERNAL, declines: INTERNAL },
    owned: { subscription_id: { column: 'id', of: 'subscriptions' } },
    key: 'id',
  },
  {
    section: 'billing_events',
    shown: defineTable('billing_events', { type: text, subject: text, created_at: instant }),
    withheld: {
      ...OWNER,
      ...ATTEMPTS,
      id: INTERNAL,
      state: INTERNAL,
      event_id: INTERNAL,
      payload: 'a copy of the subscription or invoice, for your application',
    },
    owned: OWNED_BY_USER,
    key: 'id',
  },
  {
    section: 'acts_of_operators',
    shown: defineTable('audit_entries', {
      at: instant,
      operation: text,
      outcome: text,
      subject_kind: text.nullable(),
    }),
    withheld: {
      id: INTERNAL,
      actor_kind: 'another person',
      actor_id: 'another person',
      door: INTERNAL,
      subject_id: INTERNAL,
      owner_id: IS_PERSON,
      details: 'may contain remarks about other people',
      intent_id: INTERNAL,
      request_id: INTERNAL,
      commitments: SECRET,
      seal: SECRET,
      number: INTERNAL,
      chained_at: INTERNAL,
      hash: INTERNAL,
    },
    owned: { owner_id: 'text' },
    key: 'id',
  },
  {
    section: 'personal_data_of_the_audit_log',
    shown: defineTable('audit_personal', { content: json }),
    withheld: { entry_id: INTERNAL, person: IS_PERSON, salt: SECRET },
    owned: { person: 'text' },
    key: 'entry_id',
  },
]

/** Every table without data about people, each with the reason why it is not exported. */
export const tablesWithoutPeople: Readonly<Record<string, string>> = {
  admin_requests: 'responses to operators, kept for a day',
  billing_deliveries: 'webhooks for your own endpoints, kept for some days',
  billing_locks: 'locks that last for seconds',
  billing_notices: 'the queue of mail, by invoice and without addresses',
  billing_sync_runs: 'progress of a comparison with the providers',
  billing_webhooks: 'webhooks of the providers, kept for some days',
  counted_events: 'statistics',
  daily_figures: 'statistics',
  oauth_heartbeats: 'time of the database',
  oauth_keys: 'signing keys',
  oauth_limits: 'counters against guessing, by hashed names, which expire',
  oauth_revocations: 'announcements that a token or session has ended, which expire',
  oauth_tickets: 'one-time secrets, which expire within minutes',
  tollgate_clock: 'time of the database',
  tollgate_locks: 'locks between processes, where the database has none of its own',
  tollgate_migrations: 'versions of the tables',
  write_probes: 'the readiness check',
}
