import type { CombinedDueQueue, DueQueue } from '../../core/store/due-queue.ts'
import type { SandboxStore } from '../../core/store/store.ts'
import type { StoreTable } from '../../core/store/table.ts'
import { KINDS } from '../wire/contract.generated.ts'
import type { EventRow, RowKind, StripeRows } from './rows.ts'

export type StripeTables = { readonly [K in RowKind]: StoreTable<StripeRows[K]> }

/**
 * Queues of scheduled work, for each kind of object and each clock. They are derived from the
 * stored rows.
 */
export interface StripeQueues {
  readonly subscriptions: CombinedDueQueue<StripeRows['subscription']>
  readonly invoices: CombinedDueQueue<StripeRows['invoice']>
  readonly schedules: CombinedDueQueue<StripeRows['subscription_schedule']>
  readonly authorizations: DueQueue
  readonly checkouts: DueQueue
  readonly debits: DueQueue
  readonly debitsOnClocks: CombinedDueQueue<StripeRows['bank_debit']>
  readonly disputes: DueQueue
  readonly refunds: DueQueue
}

/**
 * Number of rows kept unpacked, for the kinds that each renewal adds to. The number is high enough
 * for the rows in use: an invoice stays a draft for an hour, while all other invoices of the same
 * day are drafted.
 */
const PACKED = {
  balance_transaction: 20,
  charge: 20,
  invoice: 20_000,
  invoice_payment: 20,
  line_item: 20_000,
  payment_intent: 20,
} as const satisfies Partial<Record<RowKind, number>>

type Columns = {
  readonly [K in RowKind]?: Readonly<Record<string, (row: StripeRows[K]) => unknown>>
}

/**
 * Columns for the fields that lists and searches use most, by path. Other fields are read from
 * every row on their first search. Each kind has its own functions, because V8 reads fields several
 * times faster in a function that sees one kind only.
 */
const COLUMNS: Columns = {
  balance_transaction: { created: (row) => row.created },
  charge: {
    created: (row) => row.created,
    customer: (row) => row.customer,
    metadata: (row) => row.metadata,
    status: (row) => row.status,
  },
  customer: {
    created: (row) => row.created,
    email: (row) => row.email,
    metadata: (row) => row.metadata,
  },
  event: { created: (row) => row.created, type: (row) => row.type },
  invoice: {
    created: (row) => row.created,
    customer: (row) => row.customer,
    metadata: (row) => row.metadata,
    'parent.subscription_details.subscription': ({ parent }) =>
      parent?.subscription_details?.subscription,
    status: (row) => row.status,
  },
  invoice_payment: { created: (row) => row.created },
  payment_intent: {
    created: (row) => row.created,
    customer: (row) => row.customer,
    metadata: (row) => row.metadata,
    status: (row) => row.status,
  },
  subscription: {
    created: (row) => row.created,
    metadata: (row) => row.metadata,
    status: (row) => row.status,
  },
}

const NOT_IN_CONTRACT = [
  'bank_debit',
  'event',
  'usage_record',
  'v2.billing.meter_event_session',
  'v2.core.event',
  'v2.core.event_destination',
] as const satisfies readonly RowKind[]

/** Kinds of objects whose rows contain the id of their customer. */
export const KINDS_WITH_CUSTOMER = [
  'bank_debit',
  'charge',
  'checkout.session',
  'customer_balance_transaction',
  'invoice',
  'invoiceitem',
  'payment_intent',
  'payment_method',
  'setup_intent',
  'subscription',
  'subscription_schedule',
] as const satisfies readonly RowKind[]

/** Kinds whose customer never changes. */
const FIXED_CUSTOMER: ReadonlySet<RowKind> = new Set(['charge', 'invoice', 'subscription'])
const FIXED = { fixed: true }

export interface OpenTables {
  readonly tables: StripeTables
  readonly queues: StripeQueues
}

export function openTables(store: SandboxStore): OpenTables {
  const names = [...Object.keys(KINDS), ...NOT_IN_CONTRACT] as RowKind[]
  const tables = Object.fromEntries(
    names.map((kind) => [kind, store.table(`stripe.${kind}`)]),
  ) as unknown as StripeTables
  for (const kind of KINDS_WITH_CUSTOMER) {
    const table = tables[kind] as unknown as StoreTable<{ customer: string | null }>
    table.indexBy('customer', (row) => row.customer, { fixed: FIXED_CUSTOMER.has(kind) })
  }
  for (const [kind, fields] of Object.entries(COLUMNS)) {
    const table = tables[kind as RowKind] as unknown as StoreTable<object>
    for (const [path, read] of Object.entries(fields)) {
      table.columnBy(path, read as (row: object) => unknown)
    }
  }
  tables.subscription_item.indexBy('subscription', (row) => row.subscription, FIXED)
  tables.usage_record.indexBy('subscription_item', (row) => row.subscription_item, FIXED)
  tables.customer.indexBy('test_clock', testClockOf, FIXED)
  tables.invoice.indexBy('subscription', (row) => row.$.subscription, FIXED)
  tables.line_item.indexBy('invoice', (row) => row.invoice, FIXED)
  tables.invoiceitem.indexBy('invoice', (row) => row.invoice)
  tables.invoice_payment.indexBy('invoice', (row) => row.invoice, FIXED)
  tables.invoice_payment.indexBy(
    'payment_intent',
    ({ payment }) => payment.payment_intent ?? null,
    FIXED,
  )
  tables.charge.indexBy('payment_intent', (row) => row.payment_intent, FIXED)
  tables.refund.indexBy('charge', (row) => row.charge)
  tables.price.indexBy('product', (row) => row.product)
  tables.promotion_code.indexBy('code', (row) => row.code.toLowerCase())
  tables['billing.meter'].indexBy('event_name', (row) => row.event_name)
  tables['billing.meter_event'].indexBy('identifier', (row) => row.identifier)
  tables['billing.meter_event'].indexBy('usage', ({ $ }) => `${$.meter} ${$.customer}`)
  tables['v2.billing.meter_event_session'].indexBy(
    'token',
    (row) => row.authentication_token,
    FIXED,
  )
  tables.subscription_schedule.indexBy('subscription', (row) => row.subscription)
  const queues = {
    subscriptions: tables.subscription.dueByClock('next', readNextDueMs, testClockOf),
    invoices: tables.invoice.dueByClock('next', readNextDueMs, testClockOf),
    schedules: tables.subscription_schedule.dueByClock('next', readNextDueMs, testClockOf),
    authorizations: tables.payment_intent.dueBy('capture before', ({ status, $ }) =>
      status === 'requires_capture' ? toMs($.captureBefore ?? null) : null,
    ),
    checkouts: tables['checkout.session'].dueBy('next', ({ $ }) => toMs($.expiresNextAt)),
    debits: tables.bank_debit.dueBy('next', ({ settlesAt }) => toMs(settlesAt)),
    debitsOnClocks: tables.bank_debit.dueByClock(
      'next on its clock',
      ({ onClock }) => toMs(onClock?.settlesAt ?? null),
      ({ onClock }) => onClock?.clock ?? null,
    ),
    disputes: tables.dispute.dueBy('next', readNextDueMs),
    refunds: tables.refund.dueBy('next', ({ $ }) => toMs($?.nextAt ?? null)),
  }
  packTables(store)
  return { tables, queues }
}

/**
 * Enables packing of rows, which saves memory. Also called before rows are loaded from a file,
 * because they may not fit into memory unpacked.
 */
export function packTables(store: SandboxStore): void {
  for (const [kind, most] of Object.entries(PACKED)) store.table(`stripe.${kind}`).packBeyond(most)
  // Events are rarely read, so all of them are packed.
  store.table<EventRow>('stripe.event').packBeyond(0, ({ type }) => type)
}

function readNextDueMs({ $ }: { $: { nextAt: number | null } }): number | null {
  return toMs($.nextAt)
}

function testClockOf({ test_clock }: { test_clock?: string | null }): string | null {
  return test_clock ?? null
}

function toMs(seconds: number | null): number | null {
  return seconds === null ? null : seconds * 1000
}
