import type { DueQueue } from '../../core/store/due-queue.ts'
import type { Store } from '../../core/store/store.ts'
import type { Table } from '../../core/store/table.ts'
import { KINDS } from '../wire/contract.generated.ts'
import type { Kind, Rows } from './rows.ts'

export type Tables = { readonly [K in Kind]: Table<Rows[K]> }

/** What falls due at Stripe, each found by its state alone. */
export interface StripeQueues {
  readonly subscriptions: DueQueue
  readonly invoices: DueQueue
  readonly schedules: DueQueue
  readonly checkouts: DueQueue
  readonly disputes: DueQueue
}

export function openTables(store: Store): { tables: Tables; queues: StripeQueues } {
  const names = [...Object.keys(KINDS), 'event'] as Kind[]
  const tables = Object.fromEntries(
    names.map((kind) => [kind, store.table(`stripe.${kind}`)]),
  ) as unknown as Tables
  const byCustomer = [
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
  ] as const
  for (const kind of byCustomer) {
    const table = tables[kind] as unknown as Table<{ customer: string | null }>
    table.indexBy('customer', (row) => row.customer)
  }
  tables.subscription_item.indexBy('subscription', (row) => row.subscription)
  tables.invoice.indexBy('subscription', (row) => row.$.subscription)
  tables.line_item.indexBy('invoice', (row) => row.invoice)
  tables.invoiceitem.indexBy('invoice', (row) => row.invoice)
  tables.invoice_payment.indexBy('invoice', (row) => row.invoice)
  tables.charge.indexBy('payment_intent', (row) => row.payment_intent)
  tables.refund.indexBy('charge', (row) => row.charge)
  tables.price.indexBy('product', (row) => row.product)
  tables.promotion_code.indexBy('code', (row) => row.code.toLowerCase())
  tables.subscription_schedule.indexBy('subscription', (row) => row.subscription)
  const queues = {
    subscriptions: tables.subscription.dueBy('next', (row) => toMs(row.$.nextAt)),
    invoices: tables.invoice.dueBy('next', (row) => toMs(row.$.nextAt)),
    schedules: tables.subscription_schedule.dueBy('next', (row) => toMs(row.$.nextAt)),
    checkouts: tables['checkout.session'].dueBy('next', (row) => toMs(row.$.expiresNextAt)),
    disputes: tables.dispute.dueBy('next', (row) => toMs(row.$.nextAt)),
  }
  return { tables, queues }
}

function toMs(seconds: number | null): number | null {
  return seconds === null ? null : seconds * 1000
}
