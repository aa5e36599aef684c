import { combineDueJobs } from '../../core/clock/due-jobs.ts'
import { serveHttp } from '../../core/http.ts'
import type { ProviderContext } from '../../core/provider-context.ts'
import type { StoreTable } from '../../core/store/table.ts'
import { BraintreeApi } from '../api/api.ts'
import type { ContextByMerchant } from '../api/keys.ts'
import { ClientApi } from '../client/client-api.ts'
import { serveBrowser } from '../client/serve-browser.ts'
import { BRAINTREE_OPERATIONS } from '../resources/registry.ts'
import { findSettlementDueAt, settleIfDue } from '../sales/settlement.ts'
import { type BraintreeContext, recordVersionsWithCause } from '../state/context.ts'
import type { SubscriptionRow } from '../state/rows/subscriptions.ts'
import { findSubscriptionDueAt, runDueBilling } from '../subscriptions/billing-cycle.ts'
import { createBraintreeHandle } from './create-handle.ts'
import type { BraintreeHandle } from './handle.ts'
import { openMerchants } from './merchants.ts'
import type { BraintreeOptions } from './options.ts'

/** Braintree retries a webhook every hour for a day. */
const RETRY_SCHEDULE = Array.from({ length: 24 }, () => 3600)

/** Starts Braintree's HTTP server on loopback. */
export async function startBraintree(
  provided: ProviderContext,
  options: BraintreeOptions = {},
): Promise<BraintreeHandle> {
  return serveBraintree(openBraintree(provided, options), provided, options)
}

/** Creates the merchants' tables and due jobs, without an HTTP server. */
export function openBraintree(
  provided: ProviderContext,
  options: BraintreeOptions = {},
  { keepVersions = false } = {},
): ContextByMerchant {
  const merchants = openMerchants(provided, options, { keepVersions })
  // A notification is signed when it is created, not when it is sent.
  provided.outbox.addSender('braintree', { retrySchedule: RETRY_SCHEDULE })
  for (const context of merchants.values()) registerDueJobs(context)
  return merchants
}

export async function serveBraintree(
  merchants: ContextByMerchant,
  { trouble, store, allowedHosts }: ProviderContext,
  options: BraintreeOptions,
): Promise<BraintreeHandle> {
  const api = new BraintreeApi(merchants, BRAINTREE_OPERATIONS, trouble)
  const clientApi = new ClientApi(merchants)
  const server = await serveHttp({
    port: options.port ?? 0,
    allowedHosts,
    handle: (request) => {
      const forBrowser = serveBrowser(request, merchants)
      if (forBrowser) return forBrowser
      return clientApi.isFor(request.path) ? clientApi.handle(request) : api.handle(request)
    },
    beforeResponse: () => store.flush(),
  })
  for (const context of merchants.values()) context.baseUrl = server.url
  return createBraintreeHandle(merchants, server)
}

/**
 * Registers settlements and billing with the clock. They run in the order of their due times;
 * settlements run first.
 */
function registerDueJobs(context: BraintreeContext): void {
  const { transactions, subscriptions } = context.tables
  const prefix = context.name === 'braintree' ? '' : `${context.keys.merchantId} `
  const jobs = [
    {
      name: `${prefix}settlement`,
      queue: transactions.dueBy('settlement', findSettlementDueAt),
      run: (key: string) =>
        recordVersionsWithCause(context, 'settlement fell due', () =>
          runOrRestoreRow(transactions, key, (row) => settleIfDue(context, row)),
        ),
    },
    {
      name: `${prefix}billing`,
      queue: subscriptions.dueBy('billing', findSubscriptionDueAt),
      run: (key: string) =>
        recordVersionsWithCause(context, 'billing fell due', () =>
          runOrRestoreRow(subscriptions, key, (row) => billOrRollBack(context, row)),
        ),
    },
  ]
  context.clock.join(combineDueJobs('braintree', jobs, context.failures))
}

function billOrRollBack(context: BraintreeContext, row: SubscriptionRow): void {
  const before = row.transactionIds.length
  try {
    runDueBilling(context, row)
  } catch (error) {
    // Removes the charge of the failed step; the next attempt creates its own.
    for (const id of row.transactionIds.slice(before)) context.tables.transactions.delete(id)
    throw error
  }
}

/** Runs the due work of a row. If the work fails, restores the row. */
function runOrRestoreRow<T extends object>(
  table: StoreTable<T>,
  key: string,
  run: (row: T) => void,
): void {
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
