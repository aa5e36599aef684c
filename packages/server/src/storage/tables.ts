import { defineTable, field } from '@tollgate/database'

/**
 * Each table once: rows, records and mappers follow from here. What has been migrated already is in
 * `migrations.ts`, and a test compares the two on every database.
 */
export const userTable = defineTable(
  'users',
  {
    id: field.counter,
    email: field.string(254),
    email_key: field.string(254),
    name: field.string(100).nullable(),
    password_hash: field.string(255),
    operator: field.flag,
    demo: field.flag,
    created_at: field.instant,
    disabled_at: field.instant.nullable(),
  },
  { unique: { users_by_email: ['email_key'] }, indexes: { users_by_demo: ['demo'] } },
)

export const sessionTable = defineTable(
  'sessions',
  {
    id_hash: field.id,
    user_id: field.integer,
    created_at: field.instant,
    seen_at: field.instant,
    expires_at: field.instant,
    /** Where it began, as far as known. */
    address: field.id.nullable(),
    browser: field.string(100).nullable(),
  },
  {
    primaryKey: ['id_hash'],
    indexes: { sessions_by_user: ['user_id'], sessions_by_end: ['expires_at'] },
  },
)

/** A network an account was used from. */
export const knownNetworkTable = defineTable(
  'known_networks',
  {
    /** `<account>@<network>`. */
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

/** What happened on a day (UTC), such as `2027-03-03`. */
export const dailyStatisticTable = defineTable(
  'daily_figures',
  {
    name: field.id,
    day: field.string(10),
    /** A currency for money; empty for things that are counted. */
    unit: field.string(10),
    amount: field.integer,
  },
  { primaryKey: ['name', 'day', 'unit'] },
)

/** Events whose effect is in the statistics. */
export const countedEventTable = defineTable(
  'counted_events',
  { id: field.string(320), counted_at: field.instant },
  { primaryKey: ['id'], indexes: { counted_events_by_time: ['counted_at'] } },
)

/** What readiness writes to see whether it can. */
export const writeProbeTable = defineTable(
  'write_probes',
  { id: field.id, written_at: field.instant, filler: field.text },
  { primaryKey: ['id'] },
)

/** All of them. */
export const serviceTables = [
  userTable,
  sessionTable,
  knownNetworkTable,
  dailyStatisticTable,
  countedEventTable,
  writeProbeTable,
]

/** With those of billing's columns that are read here; they are not there before its tables are made. */
export type UserRow = ReturnType<typeof userTable.toRow> & {
  provider?: string | null | undefined
  provider_id?: string | null | undefined
}
export type SessionRow = ReturnType<typeof sessionTable.toRow>

export interface ServiceTables {
  users: UserRow
  sessions: SessionRow
  known_networks: ReturnType<typeof knownNetworkTable.toRow>
  daily_figures: ReturnType<typeof dailyStatisticTable.toRow>
  counted_events: ReturnType<typeof countedEventTable.toRow>
}
