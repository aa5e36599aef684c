import { addColumn, type Columns, createTable, type Migration } from '@tollgate/database'

/** What every queue has, beside what waits in it. */
const waiting = (columns: Columns) => ({
  state: columns.id,
  attempts: columns.integer,
  due_at: columns.instant,
  last_error: columns.text.nullable(),
  created_at: columns.instant,
  finished_at: columns.instant.nullable(),
})

export const usageMigration: Migration = {
  id: '0009-usage',
  async up(database, columns) {
    await createTable(database, 'billing_usage', {
      columns: {
        id: columns.counter,
        identifier: columns.id,
        reference: columns.string(255),
        owner_type: columns.id,
        owner_id: columns.string(255),
        provider: columns.id,
        subscription_id: columns.integer.nullable(),
        meter: columns.string(255),
        value: columns.string(40),
        at: columns.instant,
        batch: columns.id.nullable(),
        ...waiting(columns),
      },
      unique: { billing_usage_by_identifier: ['identifier'] },
      indexes: {
        billing_usage_by_due: ['provider', 'state', 'due_at'],
        billing_usage_by_subscription: ['subscription_id', 'meter', 'at'],
      },
    })
  },
}

/** One stream of what happened, and what goes out because of it: mail and webhooks of ours. */
export const eventsMigration: Migration = {
  id: '0010-events',
  async up(database, columns) {
    await createTable(database, 'billing_events', {
      columns: {
        id: columns.counter,
        event_id: columns.id,
        type: columns.id,
        subject: columns.string(255),
        owner_type: columns.id,
        owner_id: columns.string(255),
        payload: columns.text,
        ...waiting(columns),
      },
      unique: { billing_events_by_event: ['event_id'] },
      indexes: { billing_events_by_due: ['state', 'due_at'] },
    })
    await createTable(database, 'billing_notices', {
      columns: {
        id: columns.counter,
        provider: columns.id,
        kind: columns.id,
        subject: columns.string(255),
        event_id: columns.id,
        ...waiting(columns),
      },
      unique: { billing_notices_by_subject: ['provider', 'kind', 'subject'] },
      indexes: { billing_notices_by_due: ['state', 'due_at'] },
    })
    await createTable(database, 'billing_deliveries', {
      columns: {
        id: columns.counter,
        endpoint: columns.string(255),
        event_id: columns.id,
        type: columns.id,
        payload: columns.text,
        ...waiting(columns),
      },
      unique: { billing_deliveries_by_event: ['endpoint', 'event_id'] },
      indexes: { billing_deliveries_by_due: ['state', 'due_at'] },
    })
  },
}

/** Since when a provider may have what was reported. */
export const usageAskedMigration: Migration = {
  id: '0011-usage-asked',
  async up(database, columns) {
    await addColumn(database, 'billing_usage', 'asked_at', columns.instant.nullable())
  },
}

/** What was charged for usage, and how often that was declined. */
export const usageBatchesMigration: Migration = {
  id: '0012-usage-batches',
  async up(database, columns) {
    await createTable(database, 'billing_usage_batches', {
      columns: {
        id: columns.id,
        subscription_id: columns.integer,
        period_from: columns.instant,
        period_to: columns.instant.nullable(),
        declines: columns.integer,
        created_at: columns.instant,
        bill: columns.text.nullable(),
      },
      primaryKey: ['id'],
      indexes: { billing_usage_batches_by_period: ['subscription_id', 'period_from'] },
    })
  },
}
