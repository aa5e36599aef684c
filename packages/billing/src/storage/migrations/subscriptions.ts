import { addColumn, createTable, type Migration } from '@tollgate/database'

/** Several prices in one subscription, pauses and planned swaps. */
export const itemsMigration: Migration = {
  id: '0006-items',
  async up(database, columns) {
    await createTable(database, 'billing_subscription_items', {
      columns: {
        id: columns.counter,
        subscription_id: columns.integer,
        provider: columns.id,
        provider_id: columns.string(255),
        provider_plan: columns.string(255),
        provider_product: columns.string(255).nullable(),
        quantity: columns.integer.nullable(),
        created_at: columns.timestamp,
        updated_at: columns.timestamp,
      },
      unique: { billing_subscription_items_by_provider: ['provider', 'provider_id'] },
      indexes: { billing_subscription_items_by_subscription: ['subscription_id', 'provider_plan'] },
    })
    await addColumn(database, 'subscriptions', 'paused_at', columns.timestamp.nullable())
    await addColumn(database, 'subscriptions', 'planned_plan', columns.string(255).nullable())
    await addColumn(database, 'subscriptions', 'planned_at', columns.timestamp.nullable())
  },
}

export const disputesMigration: Migration = {
  id: '0007-disputes',
  async up(database, columns) {
    await createTable(database, 'billing_disputes', {
      columns: {
        provider: columns.id,
        provider_id: columns.string(255),
        owner_type: columns.id,
        owner_id: columns.string(255),
        subscription_id: columns.integer.nullable(),
        charge: columns.string(255),
        amount: columns.integer,
        currency: columns.string(3),
        reason: columns.string(255).nullable(),
        status: columns.id,
        opened_at: columns.instant,
        closed_at: columns.instant.nullable(),
      },
      primaryKey: ['provider', 'provider_id'],
      indexes: { billing_disputes_by_subscription: ['subscription_id', 'closed_at'] },
    })
    await addColumn(database, 'subscriptions', 'disputed_at', columns.timestamp.nullable())
  },
}

/** How often an owner has typed a promotion code lately. */
export const codeAttemptsMigration: Migration = {
  id: '0008-code-attempts',
  async up(database, columns) {
    await createTable(database, 'billing_code_attempts', {
      columns: {
        owner_type: columns.id,
        owner_id: columns.string(255),
        attempts: columns.integer,
        expires_at: columns.instant,
      },
      primaryKey: ['owner_type', 'owner_id'],
      indexes: { billing_code_attempts_by_end: ['expires_at'] },
    })
  },
}
