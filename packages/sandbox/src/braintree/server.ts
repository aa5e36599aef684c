import { serveHttp } from '../http.ts'
import type { ProviderContext } from '../provider-context.ts'
import { billDue, subscriptionDue } from './billing-cycle.ts'
import type { BraintreeContext } from './context.ts'
import { answerCall } from './gateway.ts'
import { type BraintreeHandle, controlPanel, inspection } from './handle.ts'
import { createEnvironment } from './loopback-environment.ts'
import { settleDue, settlementDue } from './settlement.ts'
import { openTables } from './tables.ts'

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
  joinClock(context)
  const server = await serveHttp({
    port: options.port,
    handle: (request) => answerCall(context, request),
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
function joinClock(context: BraintreeContext): void {
  const { transactions, subscriptions } = context.tables
  const settling = transactions.dueBy('settlement', settlementDue)
  const billing = subscriptions.dueBy('billing', subscriptionDue)
  context.clock.join({
    nextDue: () => {
      const dues = [settling.nextDue(), billing.nextDue()].filter((due) => due !== null)
      return dues.length === 0 ? null : Math.min(...dues)
    },
    fireDue: (at) => {
      for (let key = settling.nextKey(at); key; key = settling.nextKey(at)) {
        const row = transactions.get(key)
        if (row) settleDue(context, row)
      }
      for (let key = billing.nextKey(at); key; key = billing.nextKey(at)) {
        const row = subscriptions.get(key)
        if (row) billDue(context, row)
      }
    },
  })
}
