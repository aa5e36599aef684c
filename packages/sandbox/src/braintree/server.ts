import { serveHttp } from '../http.ts'
import type { ProviderContext } from '../provider-context.ts'
import { billDue, subscriptionDue } from './billing-cycle.ts'
import { type BraintreeContext, changeSettings, settingsOf } from './context.ts'
import {
  defineModification,
  definePlan,
  type ModificationDefinition,
  type PlanDefinition,
} from './control-panel.ts'
import { answerCall } from './gateway.ts'
import { createEnvironment, type LoopbackEnvironment } from './loopback-environment.ts'
import { type NonceRequest, openNonceInstrument } from './nonce-request.ts'
import { createNonce } from './nonces.ts'
import { notify, type TransactionKind, verifyWebhookUrl } from './notifications.ts'
import { settleDue, settlementDue } from './settlement.ts'
import { subscriptionXml } from './subscription-xml.ts'
import {
  type CustomerRow,
  openTables,
  type PaymentMethodRow,
  type SettingsRow,
  type SubscriptionRow,
  type TransactionRow,
} from './tables.ts'
import { transactionXml } from './transaction-xml.ts'

export interface BraintreeOptions extends ProviderContext {
  readonly merchantId?: string
  readonly publicKey?: string
  readonly privateKey?: string
  /** Of the default merchant account; `USD` unless told. */
  readonly currency?: string
}

/** Ready for `new braintree.BraintreeGateway(config)`. */
export interface BraintreeConfig {
  readonly environment: LoopbackEnvironment
  readonly merchantId: string
  readonly publicKey: string
  readonly privateKey: string
}

/** A running Braintree: what the SDK needs, the control panel, and a look inside. */
export interface BraintreeHandle {
  readonly url: string
  readonly config: BraintreeConfig
  close(): Promise<void>

  // The control panel
  definePlan(plan: PlanDefinition): void
  defineAddOn(addOn: ModificationDefinition): void
  defineDiscount(discount: ModificationDefinition): void
  defineMerchantAccount(account: { id: string; currency: string }): void
  settings(): Readonly<SettingsRow>
  changeSettings(changes: Partial<SettingsRow>): void
  registerWebhook(url: string): void
  removeWebhook(url: string): void
  /** Sends the challenge; true when the URL answers it with the right signature. */
  verifyWebhook(url: string): Promise<boolean>
  /** Sends a notification on demand: `check`, or one about a subscription or transaction. */
  notify(kind: string, subjectId?: string): void

  /** What a browser would get for a card or PayPal account. It works once. */
  createNonce(request?: NonceRequest): string
  /** Every charge of the method fails with the code until it is set to null. */
  failCharges(token: string, code: string | null): void

  customer(id: string): Readonly<CustomerRow> | null
  customers(): ReadonlyArray<Readonly<CustomerRow>>
  paymentMethods(customerId: string): ReadonlyArray<Readonly<PaymentMethodRow>>
  subscription(id: string): Readonly<SubscriptionRow> | null
  /** Of one customer, or all, oldest first. */
  subscriptions(customerId?: string): ReadonlyArray<Readonly<SubscriptionRow>>
  transactions(customerId?: string): ReadonlyArray<Readonly<TransactionRow>>
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

type ControlPanel = Pick<
  BraintreeHandle,
  | 'definePlan'
  | 'defineAddOn'
  | 'defineDiscount'
  | 'defineMerchantAccount'
  | 'settings'
  | 'changeSettings'
  | 'registerWebhook'
  | 'removeWebhook'
  | 'verifyWebhook'
  | 'notify'
  | 'createNonce'
  | 'failCharges'
>

function controlPanel(context: BraintreeContext): ControlPanel {
  const { merchantAccounts, webhooks, paymentMethods } = context.tables
  return {
    definePlan: (plan) => void definePlan(context, plan),
    defineAddOn: (addOn) => void defineModification(context, 'add_on', addOn),
    defineDiscount: (discount) => void defineModification(context, 'discount', discount),
    defineMerchantAccount: ({ id, currency }) =>
      merchantAccounts.set(id, { id, currency, isDefault: false }),
    settings: () => settingsOf(context),
    changeSettings: (changes) => changeSettings(context, changes),
    registerWebhook: (url) => webhooks.set(url, { url: new URL(url).href }),
    removeWebhook: (url) => webhooks.delete(url),
    verifyWebhook: (url) => verifyWebhookUrl(context, url),
    notify: (kind, subjectId) => notifyAbout(context, kind, subjectId),
    createNonce: (request = {}) => createNonce(context, openNonceInstrument(context, request)),
    failCharges: (token, code) => {
      const row = paymentMethods.get(token)
      if (!row) throw new RangeError(`There is no payment method ${token}`)
      row.alwaysFailsWith = code
      paymentMethods.set(token, row)
    },
  }
}

function notifyAbout(context: BraintreeContext, kind: string, id: string | undefined): void {
  if (id === undefined) {
    notify(context, kind, () => ({ check: true }))
    return
  }
  const subscription = context.tables.subscriptions.get(id)
  const transaction = context.tables.transactions.get(id)
  if (subscription) {
    notify(context, kind, () => ({ subscription: subscriptionXml(context, subscription) }))
  } else if (transaction) {
    notify(context, kind as TransactionKind, () => ({
      transaction: transactionXml(context, transaction),
    }))
  } else throw new RangeError(`There is no subscription or transaction ${id}`)
}

type Inspection = Pick<
  BraintreeHandle,
  'customer' | 'customers' | 'paymentMethods' | 'subscription' | 'subscriptions' | 'transactions'
>

/** Copies, so that looking cannot change anything. */
function inspection(context: BraintreeContext): Inspection {
  const { customers, paymentMethods, subscriptions, transactions } = context.tables
  const copy = <Row>(row: Row | undefined) => (row === undefined ? null : structuredClone(row))
  return {
    customer: (id) => copy(customers.get(id)),
    customers: () => structuredClone([...customers.values()]),
    paymentMethods: (customerId) => structuredClone(paymentMethods.findBy('customer', customerId)),
    subscription: (id) => copy(subscriptions.get(id)),
    subscriptions: (customerId) =>
      structuredClone(
        customerId === undefined
          ? [...subscriptions.values()]
          : subscriptions.findBy('customer', customerId),
      ),
    transactions: (customerId) =>
      structuredClone(
        customerId === undefined
          ? [...transactions.values()]
          : transactions.findBy('customer', customerId),
      ),
  }
}
