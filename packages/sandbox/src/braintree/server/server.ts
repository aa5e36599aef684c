import { dueJobs } from '../../core/clock/due-jobs.ts'
import type { FailedJobs } from '../../core/clock/failed-jobs.ts'
import { serveHttp } from '../../core/http.ts'
import type { ProviderContext } from '../../core/provider-context.ts'
import type { Table } from '../../core/store/store.ts'
import { answerCall } from '../api/gateway.ts'
import { settleDue, settlementDue } from '../sales/settlement.ts'
import type { BraintreeContext } from '../state/context.ts'
import { openTables, type SubscriptionRow } from '../state/tables.ts'
import { billDue, subscriptionDue } from '../subscriptions/billing-cycle.ts'
import { type BraintreeHandle, controlPanel, inspection } from './handle.ts'
import { createEnvironment } from './loopback-environment.ts'

export type { BraintreeConfig, BraintreeHandle } from './handle.ts'

export interface BraintreeOptions extends ProviderContext {
  readonly merchantId?: string
  readonly publicKey?: string
  readonly privateKey?: string
  /** Of the default merchant account; `USD` unless told. */
  readonly currency?: string
}

export async function startBraintree(options: BraintreeOptions): Promise<BraintreeHandle> {
  const credentials = {
    merchantId: options.merchantId ?? 'sandbox_merchant',
    publicKey: options.publicKey ?? 'sandbox_public_key',
    privateKey: options.privateKey ?? 'sandbox_private_key',
  }
  const { clock, store, outbox, trouble } = options
  let url = ''
  const context: BraintreeContext = {
    credentials,
    clock,
    store,
    outbox,
    trouble,
    tables: openTables(store),
    baseUrl: () => url,
  }
  openMerchantAccount(context, options.currency ?? 'USD')
  joinClock(context, options.failures)
  const server = await serveHttp({
    port: options.port,
    handle: (request) => answerCall(context, request),
    failed: (error) => {
      process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`)
      return { status: 500 }
    },
  })
  url = server.url
  const environment = createEnvironment(server.host, server.port)
  return {
    url,
    config: { environment, ...credentials },
    close: () => server.close(),
    ...controlPanel(context),
    ...inspection(context),
  }
}

/** A restored snapshot brings its own accounts. */
function openMerchantAccount(context: BraintreeContext, currency: string): void {
  const { merchantAccounts } = context.tables
  if (merchantAccounts.size > 0) return
  const id = `sandbox_${currency.toLowerCase()}`
  merchantAccounts.set(id, { id, currency, isDefault: true })
}

/** Settlements and billing, in the order they fall due; a settlement goes first. */
function joinClock(context: BraintreeContext, failures: FailedJobs): void {
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
  context.clock.join(dueJobs('braintree', jobs, failures))
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
