import { dueJobs } from '../../core/clock/due-jobs.ts'
import { serveHttp } from '../../core/http.ts'
import type { ProviderContext } from '../../core/provider-context.ts'
import type { Table } from '../../core/store/table.ts'
import { BraintreeApi } from '../api/api.ts'
import { OPERATIONS } from '../resources/registry.ts'
import { settleDue, settlementDue } from '../sales/settlement.ts'
import type { BraintreeContext } from '../state/context.ts'
import type { SubscriptionRow } from '../state/rows/subscriptions.ts'
import { openTables } from '../state/tables.ts'
import { billDue, subscriptionDue } from '../subscriptions/billing-cycle.ts'
import { createBraintreeHandle } from './create-handle.ts'
import type { BraintreeHandle } from './handle.ts'
import type { BraintreeOptions } from './options.ts'

/** Every hour for a day. */
const RETRY_SCHEDULE = Array.from({ length: 24 }, () => 3600)

/** Starts Braintree on loopback. */
export async function startBraintree(
  provided: ProviderContext,
  options: BraintreeOptions = {},
): Promise<BraintreeHandle> {
  const context: BraintreeContext = {
    ...provided,
    keys: {
      merchantId: options.merchantId ?? 'sandbox_merchant',
      publicKey: options.publicKey ?? 'sandbox_public_key',
      privateKey: options.privateKey ?? 'sandbox_private_key',
    },
    tables: openTables(provided.store),
    baseUrl: '',
  }
  openMerchantAccount(context, options.currency ?? 'USD')
  const api = new BraintreeApi(context, OPERATIONS)
  // A notification is signed when it is written, not when it is sent.
  provided.outbox.addSender('braintree', { retrySchedule: RETRY_SCHEDULE })
  joinClock(context)
  const server = await serveHttp({
    port: options.port ?? 0,
    handle: (request) => api.handle(request),
  })
  context.baseUrl = server.url
  return createBraintreeHandle(context, server)
}

/** A restored snapshot brings its own accounts. */
function openMerchantAccount(context: BraintreeContext, currency: string): void {
  const { merchantAccounts } = context.tables
  if (merchantAccounts.size > 0) return
  const id = `sandbox_${currency.toLowerCase()}`
  merchantAccounts.set(id, { id, currency, isDefault: true })
}

/** Settlements and billing, in the order they fall due; a settlement goes first. */
function joinClock(context: BraintreeContext): void {
  const { transactions, subscriptions } = context.tables
  const jobs = [
    {
      name: 'settlement',
      queue: transactions.dueBy('settlement', settlementDue),
      run: (key: string) => runOrPutBack(transactions, key, (row) => settleDue(context, row)),
    },
    {
      name: 'billing',
      queue: subscriptions.dueBy('billing', subscriptionDue),
      run: (key: string) => runOrPutBack(subscriptions, key, (row) => billOrForget(context, row)),
    },
  ]
  context.clock.join(dueJobs('braintree', jobs, context.failures))
}

function billOrForget(context: BraintreeContext, row: SubscriptionRow): void {
  const before = row.transactionIds.length
  try {
    billDue(context, row)
  } catch (error) {
    // The charge belongs to a step that did not happen; the next attempt makes its own.
    for (const id of row.transactionIds.slice(before)) context.tables.transactions.delete(id)
    throw error
  }
}

/** Does what is due for the row; when that fails the row is as it was. */
function runOrPutBack<T extends object>(table: Table<T>, key: string, run: (row: T) => void): void {
  const row = table.get(key)
  if (!row) return
  const before = JSON.stringify(row)
  try {
    run(row)
  } catch (error) {
    table.set(key, JSON.parse(before) as T)
    throw error
  }
}
