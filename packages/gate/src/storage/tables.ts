import {
  createClockTable,
  createTable,
  defineTable,
  field,
  type MigrationSet,
} from '@tollgate/database'

/** `type:id` of a subject. */
const subject = field.string(320)

/** How much of a meter a subject has used in one window, including what processes have leased. */
export const counterTable = defineTable(
  'gate_counters',
  {
    subject,
    meter: field.id,
    /** When the window began. 0 for a gauge, which has no window. */
    starts_at: field.instant,
    /** When the window ends. The row is deleted some time later. */
    ends_at: field.instant,
    taken: field.integer,
  },
  {
    primaryKey: ['subject', 'meter', 'starts_at'],
    indexes: { gate_counters_by_end: ['ends_at'], gate_counters_by_use: ['taken'] },
  },
)

/** Usage that was recorded with an id, so that repeating the call counts it once. */
export const recordTable = defineTable(
  'gate_records',
  {
    id: field.string(191),
    subject,
    meter: field.id,
    amount: field.integer,
    recorded_at: field.instant,
  },
  { primaryKey: ['subject', 'id'], indexes: { gate_records_by_time: ['recorded_at'] } },
)

/** Exceptions for single subjects. */
export const overrideTable = defineTable(
  'gate_overrides',
  {
    subject,
    terms: field.json<unknown>(),
    /** `null` for an override without an end. */
    ends_at: field.instant.nullable(),
    created_at: field.instant,
  },
  { primaryKey: ['subject'] },
)

/** The billing period in which use of a subject counts. A new row replaces it when it has ended. */
export const periodTable = defineTable(
  'gate_periods',
  { subject, starts_at: field.instant, ends_at: field.instant },
  { primaryKey: ['subject'], indexes: { gate_periods_by_end: ['ends_at'] } },
)

/** Subjects whose plan may have changed, in the order in which processes learn of it. */
export const changeTable = defineTable(
  'gate_changes',
  { id: field.counter, subject, changed_at: field.instant },
  {},
)

/** Running processes that lease from counters. Their number determines the size of leases. */
export const processTable = defineTable(
  'gate_processes',
  { id: field.id, seen_at: field.instant },
  { primaryKey: ['id'] },
)

/** Shares of quotas that were reported as reached, so that each is reported once. */
export const alertTable = defineTable(
  'gate_alerts',
  {
    subject,
    meter: field.id,
    /** When the window of the quota ends. */
    ends_at: field.instant,
    quota: field.integer,
    percent: field.integer,
    reported_at: field.instant,
  },
  {
    primaryKey: ['subject', 'meter', 'ends_at', 'quota', 'percent'],
    indexes: { gate_alerts_by_end: ['ends_at'] },
  },
)

type RowsOf<Table extends { toRow(record: never): unknown }> = ReturnType<Table['toRow']>

/** The tables of the gate, for Kysely. */
export interface GateTables {
  readonly gate_counters: RowsOf<typeof counterTable>
  readonly gate_records: RowsOf<typeof recordTable>
  readonly gate_overrides: RowsOf<typeof overrideTable>
  readonly gate_periods: RowsOf<typeof periodTable>
  readonly gate_changes: RowsOf<typeof changeTable>
  readonly gate_processes: RowsOf<typeof processTable>
  readonly gate_alerts: RowsOf<typeof alertTable>
}

/** The migrations in order. Append new ones at the end; never edit one that has been released. */
export const gateMigrations: MigrationSet = {
  name: 'gate',
  migrations: [
    {
      id: '0001-first-release',
      async up(database, columns) {
        const tables = [
          ...[counterTable, recordTable, overrideTable, periodTable],
          ...[changeTable, processTable, alertTable],
        ]
        for (const table of tables) {
          await createTable(database, table.name, table.describe(columns))
        }
        await createClockTable(database)
      },
    },
  ],
}
