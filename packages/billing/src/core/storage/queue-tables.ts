import { type DefinedTable, defineTable, field } from '@tollgate/database'
import type { ProviderName } from '../values/provider-name.ts'
import type { UsageBill } from '../values/usage-bill.ts'
import { ownerFields } from './tables.ts'

/** `pending` waits for its next attempt, `done` was processed, `dead` failed in every attempt. */
export type QueueState = 'pending' | 'done' | 'dead'

/** Columns that every queue has. */
const waiting = {
  state: field.id.as<QueueState>(),
  attempts: field.integer,
  /** When the next attempt is due. While the entry is claimed: when the claim expires. */
  due_at: field.instant,
  last_error: field.text.nullable(),
  created_at: field.instant,
  finished_at: field.instant.nullable(),
}

const provider = field.id.as<ProviderName>()

/** `sent` was reported to the provider, `refused` was rejected by it, `cancelled` was withdrawn. */
export type UsageState = 'pending' | 'sent' | 'refused' | 'cancelled'

/**
 * Table of usage reports, with their state: waiting to be sent to the provider, sent, refused or
 * cancelled.
 */
export const usageTable = defineTable(
  'billing_usage',
  {
    id: field.counter,
    /**
     * Idempotency key of the report, also sent to the provider: a digest of the customer and
     * `reference`.
     */
    identifier: field.id,
    /** The application's id of the report. */
    reference: field.string(255),
    ...ownerFields,
    provider,
    subscription_id: field.integer.nullable(),
    meter: field.string(255),
    /** Decimal number as text. */
    value: field.string(40),
    at: field.instant,
    /**
     * Id of the charge that this usage belongs to, assigned before the charge is requested. `null`
     * if usage is not charged in batches.
     */
    batch: field.id.nullable(),
    ...waiting,
    state: field.id.as<UsageState>(),
    /**
     * When the provider may first have received the report; from then on, only the provider knows
     * whether it has it. `null` if the report was certainly not sent.
     */
    asked_at: field.instant.nullable(),
    /**
     * The customer to bill. `null` if it was not known: then the owner's current customer is
     * billed.
     */
    provider_customer: field.string(255).nullable(),
  },
  {
    unique: { billing_usage_by_identifier: ['identifier'] },
    indexes: {
      billing_usage_by_owner: ['owner_type', 'owner_id', 'reference'],
      billing_usage_by_due: ['provider', 'state', 'due_at'],
      billing_usage_by_subscription: ['subscription_id', 'meter', 'at'],
    },
  },
)

/**
 * Table of usage batches, for providers where billing counts the usage. A batch is a billing
 * period, or a part of it, whose usage is charged together.
 */
export const usageBatchTable = defineTable(
  'billing_usage_batches',
  {
    id: field.id,
    subscription_id: field.integer,
    /**
     * Start of the billing period, or of the part of it that follows a trial. Usage with the same
     * start is priced together.
     */
    period_from: field.instant,
    /** End of the billing period. `null` if it is open. */
    period_to: field.instant.nullable(),
    /** Number of declined charges. */
    declines: field.integer,
    created_at: field.instant,
    /** The charge. `null` until it was made. */
    bill: field.json<UsageBill>().nullable(),
  },
  {
    primaryKey: ['id'],
    indexes: { billing_usage_batches_by_period: ['subscription_id', 'period_from'] },
  },
)

/** Table of billing events, with one row for each type and subject. */
export const eventTable = defineTable(
  'billing_events',
  {
    id: field.counter,
    /** Digest of type and subject, identical for every listener and every attempt. */
    event_id: field.id,
    type: field.id,
    subject: field.string(255),
    ...ownerFields,
    payload: field.text,
    ...waiting,
  },
  {
    unique: { billing_events_by_event: ['event_id'] },
    indexes: { billing_events_by_due: ['state', 'due_at'] },
  },
)

/** Table of mail to owners, with one row for each kind and subject. */
export const noticeTable = defineTable(
  'billing_notices',
  {
    id: field.counter,
    provider,
    kind: field.id,
    subject: field.string(255),
    event_id: field.id,
    ...waiting,
    /**
     * Like the other queues, plus `sending`: handed to the mailer, which has not confirmed it yet.
     */
    state: field.id.as<QueueState | 'sending'>(),
  },
  {
    unique: { billing_notices_by_subject: ['provider', 'kind', 'subject'] },
    indexes: { billing_notices_by_due: ['state', 'due_at'] },
  },
)

/** Table of outgoing webhooks, with one row for each endpoint and event. */
export const deliveryTable = defineTable(
  'billing_deliveries',
  {
    id: field.counter,
    endpoint: field.string(255),
    event_id: field.id,
    type: field.id,
    /** The signed body, identical in every attempt. */
    payload: field.text,
    ...waiting,
    /** Like the other queues, plus `gone`: held back because the endpoint responded 410 Gone. */
    state: field.id.as<QueueState | 'gone'>(),
  },
  {
    unique: { billing_deliveries_by_event: ['endpoint', 'event_id'] },
    indexes: { billing_deliveries_by_due: ['state', 'due_at'] },
  },
)

/** All queue tables, for the migrations. */
export const queueTables: ReadonlyArray<Pick<DefinedTable<unknown>, 'name' | 'describe'>> = [
  usageTable,
  usageBatchTable,
  eventTable,
  noticeTable,
  deliveryTable,
]
