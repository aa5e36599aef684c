import { type DefinedTable, defineTable, field } from '@tollgate/database'
import type { ProviderName } from '../../provider-name.ts'
import type { UsageBill } from '../../values/usage/bill.ts'
import { ownerFields } from '../tables.ts'

/** `pending` waits for its next attempt, `done` is over, `dead` failed every time. */
export type QueueState = 'pending' | 'done' | 'dead'

/** What every queue has, beside what waits in it. */
const waiting = {
  state: field.id.as<QueueState>(),
  attempts: field.integer,
  /** When it is tried next; while somebody works on it, when another may take it. */
  due_at: field.instant,
  last_error: field.text.nullable(),
  created_at: field.instant,
  finished_at: field.instant.nullable(),
}

const provider = field.id.as<ProviderName>()

/** `sent` is at the provider, which does not take what is `refused`; `cancelled` was taken back. */
export type UsageState = 'pending' | 'sent' | 'refused' | 'cancelled'

/** What was used of a meter, until the provider has it. */
export const usageTable = defineTable(
  'billing_usage',
  {
    id: field.counter,
    /** Identifies a report, at the provider too: a digest of the customer and `reference`. */
    identifier: field.id,
    /** What the application calls the report. */
    reference: field.string(255),
    ...ownerFields,
    provider,
    subscription_id: field.integer.nullable(),
    meter: field.string(255),
    /** A decimal number. */
    value: field.string(40),
    at: field.instant,
    /** Of what is charged together: which charge it belongs to, said before that is asked for. */
    batch: field.id.nullable(),
    ...waiting,
    state: field.id.as<UsageState>(),
    /** Since when the provider may have it: it is asked from then on. Empty while it surely has not. */
    asked_at: field.instant.nullable(),
    /** The customer that is billed for the usage. Null in rows of older builds, which bill the owner's customer. */
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

/** What is charged together of a subscription's usage: a part of one period. */
export const usageBatchTable = defineTable(
  'billing_usage_batches',
  {
    id: field.id,
    subscription_id: field.integer,
    /** When the period began, or the part of it after a trial: what is priced together has the same. */
    period_from: field.instant,
    /** Its end; empty for none. */
    period_to: field.instant.nullable(),
    /** How often a card was declined. */
    declines: field.integer,
    created_at: field.instant,
    /** What was charged; empty until it is. */
    bill: field.json<UsageBill>().nullable(),
  },
  {
    primaryKey: ['id'],
    indexes: { billing_usage_batches_by_period: ['subscription_id', 'period_from'] },
  },
)

/** What happened, once for each type and subject. */
export const eventTable = defineTable(
  'billing_events',
  {
    id: field.counter,
    /** The same for whoever is told, however often: a digest of type and subject. */
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

/** Mail to an owner, once for each kind and subject. */
export const noticeTable = defineTable(
  'billing_notices',
  {
    id: field.counter,
    provider,
    kind: field.id,
    subject: field.string(255),
    event_id: field.id,
    ...waiting,
    /** As above, and `sending`: handed over, and nobody has said yet whether it arrived. */
    state: field.id.as<QueueState | 'sending'>(),
  },
  {
    unique: { billing_notices_by_subject: ['provider', 'kind', 'subject'] },
    indexes: { billing_notices_by_due: ['state', 'due_at'] },
  },
)

/** A webhook of ours, once for each endpoint and event. */
export const deliveryTable = defineTable(
  'billing_deliveries',
  {
    id: field.counter,
    endpoint: field.string(255),
    event_id: field.id,
    type: field.id,
    /** The body as it is signed: the same with every attempt. */
    payload: field.text,
    ...waiting,
    /** As above, and `gone`: held back, because the endpoint wants nothing any more. */
    state: field.id.as<QueueState | 'gone'>(),
  },
  {
    unique: { billing_deliveries_by_event: ['endpoint', 'event_id'] },
    indexes: { billing_deliveries_by_due: ['state', 'due_at'] },
  },
)

/** All of them, as they are declared. */
export const queueTables: ReadonlyArray<Pick<DefinedTable<unknown>, 'name' | 'describe'>> = [
  usageTable,
  usageBatchTable,
  eventTable,
  noticeTable,
  deliveryTable,
]
