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
    name: field.string(100).nullable(),
    password_hash: field.string(255),
    operator: field.flag,
    demo: field.flag,
    created_at: field.instant,
    disabled_at: field.instant.nullable(),
    /** The language that the person has chosen for pages and mail. */
    locale: field.string(35).nullable(),
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
    /** Network address the session started from, if known. */
    address: field.id.nullable(),
    browser: field.string(100).nullable(),
  },
  {
    primaryKey: ['id_hash'],
    indexes: { sessions_by_user: ['user_id'], sessions_by_end: ['expires_at'] },
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

/** All tables of the service. */
export const serviceTables = [
  userTable,
  sessionTable,
  knownNetworkTable,
  dailyStatisticTable,
  countedEventTable,
  writeProbeTable,
]

/**
 * A row of the table `users`, with two columns that billing adds. They are missing until billing
 * has migrated its tables.
 */
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
