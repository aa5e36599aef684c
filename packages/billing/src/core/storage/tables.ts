import { type DefinedTable, defineTable, type Field, field } from '@tollgate/database'
import type { CardSummary } from '../values/card.ts'
import type { DisputeStatus } from '../values/dispute-status.ts'
import type { Owner } from '../values/owner.ts'
import type { ProviderName } from '../values/provider-name.ts'
import type { SubscriptionColumns } from '../values/subscription-state.ts'
import { type OwnerColumns, toOwnerColumns } from './owner-columns.ts'
import type { UserTable } from './owner-tables.ts'
import type { QueueEntry } from './queue.ts'

type IdType = Required<UserTable>['idType']
type UserId = string | number

export type OperationKind = keyof OperationKinds

/**
 * The kinds of operations, by name. Each feature adds its own, and declares in `operations` how to
 * finish it after a crash.
 */
// biome-ignore lint/suspicious/noEmptyInterface: each feature adds to it.
export interface OperationKinds {}

/** The original request of an operation, stored so that a retry sends the same request. */
export interface OperationRequest {
  readonly provider: ProviderName
  /** For a swap: the id of the subscription to be replaced. */
  readonly from?: string
  readonly [detail: string]: unknown
}

/** The position that a `sync()` has reached, stored so that it can be continued after a crash. */
export interface SyncProgress {
  /** Name of the phase that `sync()` has reached, such as the lists of one provider. */
  readonly phase: string
  /** Position of the next step within the phase. `null` for the first step. */
  readonly at: string | null
  /** Ids of the rows that were found in the providers' lists so far, as a bit set in base64. */
  readonly seen: string
  /** Providers whose lists were read completely. */
  readonly listed: readonly ProviderName[]
  /**
   * Only objects that changed at or after this time (milliseconds since 1970) are compared. `null`
   * to compare everything.
   */
  readonly since: number | null
}

/** `pending` waits for its next attempt, `done` was handled, `dead` failed in every attempt. */
export type WebhookState = 'pending' | 'done' | 'dead'

const provider = field.id.as<ProviderName>()
const providerId = field.string(255)
const price = field.string(255)

/**
 * The owner of a row in tables with the specified column `user_id`. Both are `null` for a user,
 * whose id is in `user_id`. All other tables have `ownerFields`.
 */
const otherOwner = { owner_type: field.id.nullable(), owner_id: field.string(255).nullable() }

/** The owner of a row. Users have the type `user`; the id is stored as text. */
export const ownerFields = { owner_type: field.id, owner_id: field.string(255) }

/**
 * Defines every table once. Row types, record types, mappers and the first migration are derived
 * from it.
 */
function defineTables(idType: IdType) {
  const id = (idType === 'string' ? field.string(255) : field.integer) as Field<UserId, UserId>
  // `null` for owners that are not users.
  const userId = id.nullable()
  return {
    subscriptions: defineTable(
      'subscriptions',
      {
        id: field.counter,
        user_id: userId,
        name: field.string(255),
        provider,
        provider_id: providerId,
        provider_plan: field.string(255),
        /** The provider's own status: `active`, `incomplete`, `Past Due`. */
        provider_status: field.id,
        quantity: field.integer,
        trial_ends_at: field.timestamp.nullable(),
        ends_at: field.timestamp.nullable(),
        created_at: field.timestamp,
        updated_at: field.timestamp,
        ...otherOwner,
        paused_at: field.timestamp.nullable(),
        /** The main price from `planned_at` on. */
        planned_price: price.nullable(),
        planned_at: field.timestamp.nullable(),
        /** The billing period or trial that the provider named last. */
        period_starts_at: field.timestamp.nullable(),
        period_ends_at: field.timestamp.nullable(),
        /** When the oldest open dispute about one of its charges was opened. */
        disputed_at: field.timestamp.nullable(),
        /**
         * The provider's customer that the subscription was made for.
         * - An id: the row only counts for its owner while the owner has this customer.
         * - `null`: the row counts for its owner. Set once the owner has another customer, and in
         * rows that the application imported, until `sync()` fills in the customer.
         * - Empty text: the customer is unknown, and the row counts for no owner.
         */
        provider_customer: providerId.nullable(),
      },
      {
        unique: { subscriptions_by_provider: ['provider', 'provider_id'] },
        indexes: {
          subscriptions_by_customer: ['provider', 'provider_customer'],
          subscriptions_by_user: ['user_id', 'name', 'created_at'],
          subscriptions_by_owner: ['owner_type', 'owner_id', 'name', 'created_at'],
          // For `billing.subscriptions()`, which pages by id.
          subscriptions_by_name: ['name', 'id'],
          subscriptions_by_price: ['provider_plan', 'id'],
          subscriptions_by_status: ['provider_status', 'id'],
        },
      },
    ),
    subscriptionItems: defineTable(
      'billing_subscription_items',
      {
        id: field.counter,
        subscription_id: field.integer,
        provider,
        provider_id: providerId,
        provider_plan: price,
        provider_product: field.string(255).nullable(),
        /** Number of units. `null` for metered prices. */
        quantity: field.integer.nullable(),
        created_at: field.timestamp,
        updated_at: field.timestamp,
      },
      {
        unique: { billing_subscription_items_by_provider: ['provider', 'provider_id'] },
        indexes: {
          billing_subscription_items_by_subscription: ['subscription_id', 'provider_plan'],
          billing_subscription_items_by_price: ['provider_plan', 'subscription_id'],
        },
      },
    ),
    disputes: defineTable(
      'billing_disputes',
      {
        provider,
        provider_id: providerId,
        ...ownerFields,
        /** `null` for a charge without a subscription. */
        subscription_id: field.integer.nullable(),
        charge: field.string(255),
        /** The provider's id of the invoice that the charge paid. */
        invoice: field.string(255).nullable(),
        amount: field.integer,
        currency: field.string(3),
        reason: field.string(255).nullable(),
        /** `inquiry`, `open`, `won` or `lost`. */
        status: field.id.as<DisputeStatus>(),
        opened_at: field.instant,
        closed_at: field.instant.nullable(),
      },
      {
        primaryKey: ['provider', 'provider_id'],
        indexes: {
          billing_disputes_by_subscription: ['subscription_id', 'closed_at'],
          // For `billing.disputes()`.
          billing_disputes_by_opening: ['opened_at', 'provider', 'provider_id'],
          billing_disputes_by_owner: ['owner_type', 'owner_id', 'opened_at'],
          billing_disputes_by_status: ['status', 'opened_at'],
        },
      },
    ),
    codeAttempts: defineTable(
      'billing_code_attempts',
      { ...ownerFields, attempts: field.integer, expires_at: field.instant },
      {
        primaryKey: ['owner_type', 'owner_id'],
        indexes: { billing_code_attempts_by_end: ['expires_at'] },
      },
    ),
    /** Log of customers that were transferred to another owner. */
    transfers: defineTable(
      'billing_transfers',
      {
        id: field.id,
        provider,
        provider_customer: providerId,
        from_type: field.id,
        from_id: field.string(255),
        to_type: field.id,
        to_id: field.string(255),
        /** Whether the previous owner had used up its free trial. */
        had_trial: field.flag,
        created_at: field.instant,
      },
      {
        primaryKey: ['id'],
        indexes: { billing_transfers_by_sender: ['from_type', 'from_id', 'created_at'] },
      },
    ),
    /** The progress of an unfinished `sync()`. */
    syncRuns: defineTable(
      'billing_sync_runs',
      {
        /** The kind of run. One run of each kind is stored. */
        name: field.id,
        run: field.id,
        place: field.json<SyncProgress>(),
        started_at: field.instant,
      },
      { primaryKey: ['name'] },
    ),
    webhooks: defineTable(
      'billing_webhooks',
      {
        id: field.counter,
        provider,
        event_id: field.string(255),
        type: field.string(255),
        payload: field.text,
        state: field.id.as<WebhookState>(),
        attempts: field.integer,
        due_at: field.instant,
        last_error: field.text.nullable(),
        received_at: field.instant,
        finished_at: field.instant.nullable(),
      },
      {
        unique: { billing_webhooks_by_event: ['provider', 'event_id'] },
        indexes: { billing_webhooks_by_due: ['state', 'due_at'] },
      },
    ),
    locks: defineTable(
      'billing_locks',
      { name: field.string(255), holder: field.id, expires_at: field.instant },
      { primaryKey: ['name'] },
    ),
    operations: defineTable(
      'billing_operations',
      {
        id: field.id,
        user_id: userId,
        kind: field.id.as<OperationKind>(),
        fingerprint: field.id,
        request: field.json<OperationRequest>(),
        name: field.string(255).nullable(),
        created_at: field.instant,
        ...otherOwner,
      },
      {
        primaryKey: ['id'],
        unique: {
          billing_operations_by_intent: ['user_id', 'kind', 'fingerprint'],
          billing_operations_by_owner: ['owner_type', 'owner_id', 'kind', 'fingerprint'],
        },
      },
    ),
    taxes: defineTable(
      'billing_taxes',
      {
        provider,
        provider_id: providerId,
        since: field.instant,
        tax: field.integer,
        net: field.integer,
      },
      { primaryKey: ['provider', 'provider_id', 'since'] },
    ),
  }
}

// The type of user ids only affects the column declaration, not reading and writing.
const tables = defineTables('integer')
// The three owner columns are mapped to one `owner` elsewhere: see `owner-columns.ts`.
export const subscriptionTable = tables.subscriptions.omit('user_id', 'owner_type', 'owner_id')
export const subscriptionItemTable = tables.subscriptionItems
export const webhookTable = tables.webhooks
export const operationTable = tables.operations.omit('user_id', 'owner_type', 'owner_id')
export const taxTable = tables.taxes
export const disputeTable = tables.disputes
export const codeAttemptTable = tables.codeAttempts
export const transferTable = tables.transfers
export const syncRunTable = tables.syncRuns

/** Returns the definitions of billing's tables, with user ids of this type. */
export function createBillingTables(
  idType: IdType,
): ReadonlyArray<Pick<DefinedTable<unknown>, 'name' | 'describe'>> {
  return Object.values(defineTables(idType))
}

/**
 * The columns that billing adds to the application's user table, and to the table of each other
 * owner type.
 */
export const userColumns = defineTable('users', {
  provider: provider.nullable(),
  /** The customer's id at the provider. */
  provider_id: providerId.nullable(),
  card_brand: field.string(255).nullable(),
  card_last_four: field.string(255).nullable(),
  /** Last valid month of the default card, such as `2027-04`. */
  card_expires: field.string(7).nullable(),
  paypal_email: field.string(255).nullable(),
  trial_ends_at: field.timestamp.nullable(),
})

export type BillingColumns = ReturnType<typeof userColumns.toRow>
export type SubscriptionRow = ReturnType<typeof subscriptionTable.toRow> & OwnerColumns
export type WebhookRow = ReturnType<typeof webhookTable.toRow>

/** A subscription row, together with the meaning of its status, which depends on the provider. */
export interface SubscriptionRecord
  extends ReturnType<typeof subscriptionTable.fromRow>,
    SubscriptionColumns {
  readonly owner: Owner
  /** The additional items. The main price is part of the subscription's own row. */
  readonly items: readonly AdditionalItemRecord[]
}

/** An additional price of a subscription, as stored in our database. */
export interface AdditionalItemRecord {
  readonly providerId: string
  readonly price: string
  readonly product: string | null
  /** Number of units. `null` for metered prices. */
  readonly quantity: number | null
}

/** A subscription row to be written, without the values that are generated or derived. */
export type NewSubscriptionRecord = Omit<SubscriptionRecord, 'id' | 'standing' | 'isSuspended'>

const newSubscription = subscriptionTable.omit('id')

export const subscriptionRowMapper = {
  toRow: (record: Omit<NewSubscriptionRecord, 'items'>) => ({
    ...newSubscription.toRow(record),
    ...toOwnerColumns(record.owner),
  }),
  // `Object.assign` instead of a spread: copying the mapped object would double the cost.
  fromRow: (
    row: SubscriptionRow,
    more: Pick<SubscriptionRecord, 'owner' | 'standing' | 'isSuspended' | 'items'>,
  ): SubscriptionRecord => Object.assign(subscriptionTable.fromRow(row), more),
}

/** An owner's row of the application's table, with the billing columns parsed. */
export interface BilledOwner extends CardSummary {
  readonly owner: Owner
  readonly provider: ProviderName | null
  /** The customer's id at the provider. */
  readonly providerId: string | null
  readonly trialEndsAt: Date | null
  /** The whole row, as the application stores it. */
  readonly attributes: Record<string, unknown>
}

/** A webhook in the inbox. */
export interface StoredWebhook extends Omit<QueueEntry<WebhookState>, 'createdAt'> {
  /** The provider that sent the webhook. */
  readonly provider: ProviderName
  /** The provider's id of the event. A repeated event with the same id is not stored again. */
  readonly eventId: string
  /** The provider's event type, such as `invoice.paid`. */
  readonly type: string
  /** The body of the webhook, as verified by its signature. */
  readonly payload: string
  /** When the webhook arrived. */
  readonly receivedAt: Date
}
