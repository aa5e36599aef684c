import { type DefinedTable, defineTable, type Field, field } from '@tollgate/database'
import type { ProviderDispute } from '../gateways/contract/parts/money/disputes.ts'
import type { ProviderName } from '../provider-name.ts'
import type { CardSummary } from '../values/card.ts'
import type { Owner } from '../values/owner.ts'
import type { SubscriptionColumns } from '../values/subscription-state.ts'
import { type OwnerColumns, toOwnerColumns } from './owner-columns.ts'
import type { UserTable } from './user-table.ts'

type IdType = Required<UserTable>['idType']
type UserId = string | number

export type OperationKind =
  | 'customer'
  | 'subscription'
  | 'swap'
  | 'resume'
  | 'checkout'
  | 'checkout_payment'
  | 'refund'
  | 'balance'
  | 'quantity'
  | 'tax_id'
  | 'credit_note'
  | 'plan'
  | 'void'
  | 'usage'
  | 'transfer'

/** What an operation was first asked for. */
export interface OperationRequest {
  readonly provider: ProviderName
  /** Of a swap: the subscription that is replaced. */
  readonly from?: string
  readonly [detail: string]: unknown
}

/** How far a `sync()` has come. */
export interface SyncPlace {
  /** The part of it that is under way. */
  readonly phase: string
  /** The next step of that part; null for its first. */
  readonly at: string | null
  /** The rows that were listed by then, one bit each, in base64. */
  readonly seen: string
  /** Providers of which everything was listed by then. */
  readonly listed: readonly ProviderName[]
  /** Compares only what has changed since, in milliseconds; null for everything. */
  readonly since: number | null
}

/** `pending` waits for its next attempt, `done` was handled, `dead` failed every time. */
export type WebhookState = 'pending' | 'done' | 'dead'

const provider = field.id.as<ProviderName>()
const providerId = field.string(255)
const plan = field.string(255)

/**
 * Whose a row is, in the tables that are older than other owners: null and null for a user, who is in `user_id`.
 * New tables have `ownerFields`.
 */
const otherOwner = { owner_type: field.id.nullable(), owner_id: field.string(255).nullable() }

/** Whose a row is. A user is an owner of the type `user`, and its id is written as text. */
export const ownerFields = { owner_type: field.id, owner_id: field.string(255) }

/**
 * Each table once: rows, records and mappers follow from here. What has been migrated already is in
 * `migrations.ts`, and a test compares the two on every database.
 */
function defineTables(idType: IdType) {
  const id = (idType === 'string' ? field.string(255) : field.integer) as Field<UserId, UserId>
  // Empty for other owners.
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
        /** The provider's own word: `active`, `incomplete`, `Past Due`. */
        provider_status: field.id,
        quantity: field.integer,
        trial_ends_at: field.timestamp.nullable(),
        ends_at: field.timestamp.nullable(),
        created_at: field.timestamp,
        updated_at: field.timestamp,
        ...otherOwner,
        paused_at: field.timestamp.nullable(),
        /** The main price from `planned_at` on. */
        planned_plan: plan.nullable(),
        planned_at: field.timestamp.nullable(),
        /** Since when a dispute about one of its charges is open. */
        disputed_at: field.timestamp.nullable(),
        /**
         * The provider's customer that it was made for: it is the owner's only while the owner has that customer. Null
         * once the owner has left that customer, and in rows of older builds: then it is the owner's. Empty where the
         * customer is unknown: then it belongs to no owner.
         */
        provider_customer: providerId.nullable(),
      },
      {
        unique: { subscriptions_by_provider: ['provider', 'provider_id'] },
        indexes: {
          subscriptions_by_customer: ['provider', 'provider_customer'],
          subscriptions_by_user: ['user_id', 'name', 'created_at'],
          subscriptions_by_owner: ['owner_type', 'owner_id', 'name', 'created_at'],
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
        provider_plan: plan,
        provider_product: field.string(255).nullable(),
        /** Null where usage is metered. */
        quantity: field.integer.nullable(),
        created_at: field.timestamp,
        updated_at: field.timestamp,
      },
      {
        unique: { billing_subscription_items_by_provider: ['provider', 'provider_id'] },
        indexes: {
          billing_subscription_items_by_subscription: ['subscription_id', 'provider_plan'],
        },
      },
    ),
    disputes: defineTable(
      'billing_disputes',
      {
        provider,
        provider_id: providerId,
        ...ownerFields,
        /** Null for a charge that no subscription made. */
        subscription_id: field.integer.nullable(),
        charge: field.string(255),
        amount: field.integer,
        currency: field.string(3),
        reason: field.string(255).nullable(),
        /** `inquiry`, `open`, `won` or `lost`. */
        status: field.id.as<ProviderDispute['status']>(),
        opened_at: field.instant,
        closed_at: field.instant.nullable(),
      },
      {
        primaryKey: ['provider', 'provider_id'],
        indexes: { billing_disputes_by_subscription: ['subscription_id', 'closed_at'] },
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
    /** Customers that were given to another owner, each time once. */
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
        /** Whether the owner who gave it away had used up its free trial. */
        had_trial: field.flag,
        created_at: field.instant,
      },
      {
        primaryKey: ['id'],
        indexes: { billing_transfers_by_sender: ['from_type', 'from_id', 'created_at'] },
      },
    ),
    /** The place of a `sync()` that has not come to its end. */
    syncRuns: defineTable(
      'billing_sync_runs',
      {
        /** The kind of run. One of each kind is kept. */
        name: field.id,
        run: field.id,
        place: field.json<SyncPlace>(),
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

// Only the declaration of a user's id depends on its type: its way in and out is the same.
const tables = defineTables('integer')
// Whose a row is has three columns, and is one thing to everybody else: see `owner-columns.ts`.
export const subscriptionTable = tables.subscriptions.omit('user_id', 'owner_type', 'owner_id')
export const subscriptionItemTable = tables.subscriptionItems
export const webhookTable = tables.webhooks
export const operationTable = tables.operations.omit('user_id', 'owner_type', 'owner_id')
export const taxTable = tables.taxes
export const disputeTable = tables.disputes
export const codeAttemptTable = tables.codeAttempts
export const transferTable = tables.transfers
export const syncRunTable = tables.syncRuns

/** All of them, as they are declared for users with such ids. */
export function billingTables(
  idType: IdType,
): ReadonlyArray<Pick<DefinedTable<unknown>, 'name' | 'describe'>> {
  return Object.values(defineTables(idType))
}

/** The columns that billing adds to the application's own table of users, and to those of other owners. */
export const userColumns = defineTable('users', {
  provider: provider.nullable(),
  /** The customer's id at the provider. */
  provider_id: providerId.nullable(),
  card_brand: field.string(255).nullable(),
  card_last_four: field.string(255).nullable(),
  /** Of the default card: `2027-04`. */
  card_expires: field.string(7).nullable(),
  paypal_email: field.string(255).nullable(),
  trial_ends_at: field.timestamp.nullable(),
})

export type BillingColumns = ReturnType<typeof userColumns.toRow>
export type SubscriptionRow = ReturnType<typeof subscriptionTable.toRow> & OwnerColumns
export type WebhookRow = ReturnType<typeof webhookTable.toRow>

/** A subscription, with what its status means: that is the provider's to say, not the row's. */
export interface SubscriptionRecord
  extends ReturnType<typeof subscriptionTable.fromRow>,
    SubscriptionColumns {
  readonly owner: Owner
  /** Its prices beside the main one, which is in its own row. */
  readonly items: readonly StoredItem[]
}

/** One price of a subscription beside its main one. */
export interface StoredItem {
  readonly providerId: string
  readonly price: string
  readonly product: string | null
  /** Null where usage is counted. */
  readonly quantity: number | null
}

/** What there is to write. */
export type NewSubscriptionRecord = Omit<SubscriptionRecord, 'id' | 'standing' | 'isSuspended'>

const newSubscription = subscriptionTable.omit('id')

export const subscriptionRow = {
  toRow: (record: Omit<NewSubscriptionRecord, 'items'>) => ({
    ...newSubscription.toRow(record),
    ...toOwnerColumns(record.owner),
  }),
  // Not spread: copying what a mapper has just made takes as long as making it.
  fromRow: (
    row: SubscriptionRow,
    more: Pick<SubscriptionRecord, 'owner' | 'standing' | 'isSuspended' | 'items'>,
  ): SubscriptionRecord => Object.assign(subscriptionTable.fromRow(row), more),
}

/** A row of the application's, and what billing knows of it. */
export interface BilledOwner extends CardSummary {
  readonly owner: Owner
  readonly provider: ProviderName | null
  /** The customer's id at the provider. */
  readonly providerId: string | null
  readonly trialEndsAt: Date | null
  /** The whole row, as the application stores it. */
  readonly attributes: Record<string, unknown>
}

/** An event as it lies in the inbox. */
export interface StoredWebhook {
  /** Counts upwards. */
  readonly id: number
  /** Who sent it. */
  readonly provider: ProviderName
  /** The provider's id; a repeat has the same one and is not stored again. */
  readonly eventId: string
  /** In the provider's words, such as `invoice.paid`. */
  readonly type: string
  /** As it was verified. */
  readonly payload: string
  /** What became of it. */
  readonly state: WebhookState
  /** How often it was tried. */
  readonly attempts: number
  /** When it is tried next. */
  readonly dueAt: Date
  /** Why the last attempt failed; null when none has. */
  readonly lastError: string | null
  /** When it arrived. */
  readonly receivedAt: Date
  /** When it was done with; null while it waits. */
  readonly finishedAt: Date | null
}
