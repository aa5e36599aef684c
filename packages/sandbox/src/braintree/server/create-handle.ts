import type { HttpServer } from '../../core/http.ts'
import { copyJson } from '../../core/store/copy-json.ts'
import type { StoreTable } from '../../core/store/table.ts'
import type { ContextByMerchant } from '../api/keys.ts'
import { changeSettings, defineModification, definePlan } from '../catalog/control-panel.ts'
import {
  type BraintreeContext,
  readMerchantSettings,
  recordVersionsWithCause,
} from '../state/context.ts'
import { verifyWebhookUrl } from '../state/notifications.ts'
import { createNonce } from '../vault/nonces.ts'
import type { BraintreeHandle } from './handle.ts'
import { createEnvironment } from './loopback-environment.ts'
import { openNonceInstrument } from './nonce-request.ts'
import { notifyOnDemand } from './notify-on-demand.ts'

/**
 * Creates the handle of the first merchant. Its method `merchant()` returns the handles of the
 * other merchants.
 */
export function createBraintreeHandle(
  merchants: ContextByMerchant,
  server: HttpServer,
): BraintreeHandle {
  const environment = createEnvironment(server.host, server.port)
  const handles = new Map<string, BraintreeHandle>()
  const merchant = (id: string) => {
    const handle = handles.get(id)
    if (!handle) throw new RangeError(`There is no merchant ${id}`)
    return handle
  }
  for (const [id, context] of merchants) {
    handles.set(id, {
      url: server.url,
      config: { environment, ...context.keys },
      close: () => server.close(),
      merchant,
      ...createControlPanelMethods(context),
      ...createInspectionMethods(context),
    })
  }
  const [first = ''] = merchants.keys()
  return merchant(first)
}

function createControlPanelMethods(context: BraintreeContext) {
  const { merchantAccounts, webhooks, paymentMethods } = context.tables
  const inPanel = (change: () => void) =>
    recordVersionsWithCause(context, 'the control panel', change)
  return {
    definePlan: (plan) => inPanel(() => definePlan(context, plan)),
    defineAddOn: (addOn) => inPanel(() => defineModification(context, 'add_on', addOn)),
    defineDiscount: (discount) => inPanel(() => defineModification(context, 'discount', discount)),
    defineMerchantAccount: (account) => {
      const isDefault = merchantAccounts.get(account.id)?.isDefault ?? false
      merchantAccounts.set(account.id, { ...account, isDefault })
    },
    settings: () => readMerchantSettings(context),
    changeSettings: (changes) => changeSettings(context, changes),
    registerWebhook: (url) => webhooks.set(url, { url: new URL(url).href }),
    removeWebhook: (url) => webhooks.delete(url),
    verifyWebhook: (url) => verifyWebhookUrl(context, url),
    notify: (kind, subjectId) => inPanel(() => notifyOnDemand(context, kind, subjectId)),
    createNonce: (request = {}) => createNonce(context, openNonceInstrument(context, request)),
    failCharges: (token, code) => {
      const row = paymentMethods.get(token)
      if (!row) throw new RangeError(`There is no payment method ${token}`)
      row.alwaysFailsWith = code
      inPanel(() => paymentMethods.set(token, row))
    },
  } satisfies Partial<BraintreeHandle>
}

/**
 * Returns the handle's methods that read objects. They return copies, so that callers cannot change
 * the state.
 */
function createInspectionMethods(context: BraintreeContext) {
  const { addresses, customers, paymentMethods, subscriptions, transactions } = context.tables
  const { plans, modifications, webhooks } = context.tables
  const copy = <Row>(row: Row | undefined) => (row === undefined ? null : copyJson(row))
  return {
    plans: () => copyJson([...plans.values()]),
    modifications: () => copyJson([...modifications.values()]),
    webhooks: () => [...webhooks.values()].map(({ url }) => url),
    customer: (id) => copy(customers.get(id)),
    customers: () => copyJson([...customers.values()]),
    addresses: (customerId) => copyJson(addresses.findBy('customer', customerId)),
    paymentMethods: (customerId) => copyJson(paymentMethods.findBy('customer', customerId)),
    subscription: (id) => copy(subscriptions.get(id)),
    subscriptions: (customerId) => copyJson(filterByCustomer(subscriptions, customerId)),
    transactions: (customerId) => copyJson(filterByCustomer(transactions, customerId)),
  } satisfies Partial<BraintreeHandle>
}

function filterByCustomer<Row extends object>(
  table: StoreTable<Row>,
  customerId: string | undefined,
): Row[] {
  return customerId === undefined ? [...table.values()] : table.findBy('customer', customerId)
}
