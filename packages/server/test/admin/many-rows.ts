import { type Database, timestamp } from '@tollgate/database'
import { createIdPrefix } from '../../src/admin/audit/log.ts'

/** The person to whom every second row belongs. */
export const PERSON = 1

const HOUR = 3_600_000
const BATCH = 25

/**
 * Fills the tables with the people `from` to `to` and their data. Seals and hashes are not real,
 * because lists do not check them.
 */
export async function addPeople(database: Database, from: number, to: number): Promise<void> {
  for (let first = from; first <= to; first += BATCH) {
    const length = Math.min(BATCH, to - first + 1)
    const numbers = Array.from({ length }, (_, index) => first + index)
    const now = Date.now()
    for (const [table, rowOf] of Object.entries(ROWS)) {
      const rows = numbers.map((n) => rowOf(n, now))
      await database.kysely.insertInto(table).values(rows).execute()
    }
  }
}

const LARGE_BATCH = 500

/** Adds entries to the audit log, the oldest first, with these columns. Returns their ids. */
export async function addEntries(
  database: Database,
  count: number,
  columnsOf: (n: number) => Row,
): Promise<string[]> {
  const now = Date.now()
  const numbers = Array.from({ length: count }, (_, index) => index + 1)
  const rows = numbers.map((n) => ({
    ...auditRow(n, now),
    number: FIRST_NUMBER + n,
    ...columnsOf(n),
  }))
  for (let at = 0; at < count; at += LARGE_BATCH) {
    const batch = rows.slice(at, at + LARGE_BATCH)
    await database.kysely.insertInto('audit_entries').values(batch).execute()
  }
  return rows.map(({ id }) => id)
}

/** Larger than the numbers of the entries about people. */
const FIRST_NUMBER = 1_000_000

const chooseOwner = (n: number) => (n % 2 === 0 ? n : PERSON)
const idOf = (kind: string, n: number) => `${kind}-${String(n).padStart(8, '0')}`
const pick = <Choice>(n: number, choices: readonly Choice[]) => choices[n % choices.length]

const buildEntryId = (n: number, now: number) =>
  `${createIdPrefix(new Date(now - HOUR + n))}${String(n).padStart(20, '0')}`

type Row = Readonly<Record<string, unknown>>

const ROWS: Readonly<Record<string, (n: number, now: number) => Row>> = {
  users: (n, now) => ({
    id: n,
    email: `person-${n}@example.com`,
    email_key: `person-${n}@example.com`,
    name: `Person ${n}`,
    password_hash: '-',
    demo: 0,
    turns: 0,
    created_at: now,
    disabled_at: null,
    locale: null,
    role: n % 5 === 0 ? 'support' : null,
    provider: pick(n, ['stripe', 'braintree']),
    provider_id: `cus_${n}`,
  }),
  sessions: (n, now) => ({
    id_hash: idOf('session', n),
    user_id: chooseOwner(n),
    created_at: now,
    seen_at: now + n,
    expires_at: now + 24 * HOUR,
    address: '203.0.113.9',
    browser: 'Firefox',
    authenticated_at: now,
    methods: 'pwd',
  }),
  teams: (n, now) => ({
    id: idOf('team', n),
    name: `Team ${n}`,
    email: `person-${n}@example.com`,
    created_at: now,
    closed_at: null,
  }),
  team_members: (n, now) => ({
    team_id: idOf('team', n),
    user_id: chooseOwner(n),
    role: 'owner',
    joined_at: now,
  }),
  oauth_clients: (n, now) => ({
    id: idOf('client', n),
    user_id: null,
    name: `Application ${n}`,
    confidential: 1,
    secret_hash: null,
    secret_version: 1,
    redirect_uris: '[]',
    grant_types: '["client_credentials"]',
    any_scope: 1,
    scopes: null,
    first_party: 0,
    resource_server: 0,
    revoked_at: null,
    created_at: now + n,
    updated_at: now + n,
    settings: '{}',
    last_used_at: null,
  }),
  oauth_tokens: (n, now) => ({
    id: idOf('token', n),
    client_id: idOf('client', n),
    user_id: String(chooseOwner(n)),
    grant_type: 'authorization_code',
    name: null,
    scopes: '[]',
    generation: 1,
    client_secret_version: 1,
    issued_at: now,
    expires_at: now + HOUR,
    refresh_expires_at: null,
    previous_expires_at: null,
    late_generation: null,
    live_until: now + HOUR,
    revoked_at: null,
    created_at: now + n,
    details: null,
    last_used_at: null,
  }),
  oauth_consents: (n, now) => ({
    user_id: String(chooseOwner(n)),
    client_id: idOf('client', n),
    scopes: '[]',
    updated_at: now + n,
    declined: null,
  }),
  audit_entries: auditRow,
  audit_personal: (n, now) => ({
    entry_id: buildEntryId(n, now),
    person: String(chooseOwner(n)),
    salt: '-',
    content: '{"actor":{"address":"203.0.113.9"}}',
  }),
  admin_requests: (n, now) => ({
    key_hash: idOf('key', n),
    request_hash: '-',
    created_at: now,
    response: null,
  }),
  subscriptions: (n, now) => ({
    user_id: chooseOwner(n),
    name: `row-${n}`,
    provider: pick(n, ['stripe', 'braintree']),
    provider_id: `sub_${n}`,
    provider_plan: 'monthly',
    provider_status: 'active',
    quantity: 1,
    created_at: timestamp(new Date(now)),
    updated_at: timestamp(new Date(now)),
    provider_customer: null,
  }),
  billing_webhooks: (n, now) => ({
    provider: 'stripe',
    event_id: `evt_${n}`,
    type: 'invoice.paid',
    payload: '{}',
    state: pick(n, ['pending', 'done', 'dead']),
    attempts: 1,
    due_at: now + n,
    last_error: null,
    received_at: now,
    finished_at: null,
  }),
  billing_deliveries: (n, now) => ({
    endpoint: 'default',
    event_id: `evt_${n}`,
    type: 'invoice.paid',
    payload: '{}',
    state: pick(n, ['pending', 'done', 'dead', 'gone']),
    attempts: 1,
    due_at: now + n,
    last_error: null,
    created_at: now,
    finished_at: null,
  }),
}

function auditRow(n: number, now: number) {
  return {
    id: buildEntryId(n, now),
    at: now,
    actor_kind: 'operator',
    actor_id: '7',
    door: 'api',
    operation: pick(n, ['users.disable', 'users.enable', 'clients.update']),
    outcome: pick(n, ['done', 'failed']),
    subject_kind: 'user',
    subject_id: String(chooseOwner(n)),
    owner_id: String(chooseOwner(n)),
    details: '{}',
    intent_id: null,
    request_id: null,
    commitments: '[]',
    seal: '-',
    number: n,
    chained_at: now,
    hash: idOf('hash', n),
  }
}
