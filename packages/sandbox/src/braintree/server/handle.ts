import {
  changeSettings,
  defineModification,
  definePlan,
  type ModificationDefinition,
  type PlanDefinition,
} from '../catalog/control-panel.ts'
import { type BraintreeContext, settingsOf } from '../state/context.ts'
import { verifyWebhookUrl } from '../state/notifications.ts'
import type {
  CustomerRow,
  ModificationRow,
  PaymentMethodRow,
  PlanRow,
  SettingsRow,
  SubscriptionRow,
  TransactionRow,
} from '../state/tables.ts'
import { createNonce } from '../vault/nonces.ts'
import type { LoopbackEnvironment } from './loopback-environment.ts'
import { type NonceRequest, openNonceInstrument } from './nonce-request.ts'
import { notifyOnDemand } from './notify-on-demand.ts'

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
  /**
   * Sends a notification on demand: `check` without a subject, or any kind about a subscription,
   * transaction (a `dispute_…` kind disputes it) or payment method.
   */
  notify(kind: string, subjectId?: string): void

  /** What a browser would get for a card or PayPal account. It works once. */
  createNonce(request?: NonceRequest): string
  /** Every charge of the method fails with the code until it is set to null. */
  failCharges(token: string, code: string | null): void

  plans(): ReadonlyArray<Readonly<PlanRow>>
  modifications(): ReadonlyArray<Readonly<ModificationRow>>
  webhooks(): readonly string[]
  customer(id: string): Readonly<CustomerRow> | null
  customers(): ReadonlyArray<Readonly<CustomerRow>>
  paymentMethods(customerId: string): ReadonlyArray<Readonly<PaymentMethodRow>>
  subscription(id: string): Readonly<SubscriptionRow> | null
  /** Of one customer, or all, oldest first. */
  subscriptions(customerId?: string): ReadonlyArray<Readonly<SubscriptionRow>>
  transactions(customerId?: string): ReadonlyArray<Readonly<TransactionRow>>
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

export function controlPanel(context: BraintreeContext): ControlPanel {
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
    notify: (kind, subjectId) => notifyOnDemand(context, kind, subjectId),
    createNonce: (request = {}) => createNonce(context, openNonceInstrument(context, request)),
    failCharges: (token, code) => {
      const row = paymentMethods.get(token)
      if (!row) throw new RangeError(`There is no payment method ${token}`)
      row.alwaysFailsWith = code
      paymentMethods.set(token, row)
    },
  }
}

type Inspection = Pick<
  BraintreeHandle,
  | 'plans'
  | 'modifications'
  | 'webhooks'
  | 'customer'
  | 'customers'
  | 'paymentMethods'
  | 'subscription'
  | 'subscriptions'
  | 'transactions'
>

/** Copies, so that looking cannot change anything. */
export function inspection(context: BraintreeContext): Inspection {
  const { customers, paymentMethods, subscriptions, transactions } = context.tables
  const { plans, modifications, webhooks } = context.tables
  const copy = <Row>(row: Row | undefined) => (row === undefined ? null : structuredClone(row))
  return {
    plans: () => structuredClone([...plans.values()]),
    modifications: () => structuredClone([...modifications.values()]),
    webhooks: () => [...webhooks.values()].map(({ url }) => url),
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
