import type { Store } from '../../core/store/store.ts'
import type { Table } from '../../core/store/table.ts'
import type { MerchantAccountRow, RequestKeyRow, SettingsRow, WebhookRow } from './rows/merchant.ts'
import type { ModificationRow, PlanRow, SubscriptionRow } from './rows/subscriptions.ts'
import type { TransactionRow } from './rows/transactions.ts'
import type { CustomerRow, NonceRow, PaymentMethodRow } from './rows/vault.ts'

export interface Tables {
  readonly customers: Table<CustomerRow>
  readonly paymentMethods: Table<PaymentMethodRow>
  readonly nonces: Table<NonceRow>
  readonly merchantAccounts: Table<MerchantAccountRow>
  readonly plans: Table<PlanRow>
  readonly modifications: Table<ModificationRow>
  readonly subscriptions: Table<SubscriptionRow>
  readonly transactions: Table<TransactionRow>
  readonly requestKeys: Table<RequestKeyRow>
  readonly webhooks: Table<WebhookRow>
  readonly settings: Table<SettingsRow>
}

export function openTables(store: Store): Tables {
  const tables: Tables = {
    customers: store.table('braintree.customers'),
    paymentMethods: store.table('braintree.payment_methods'),
    nonces: store.table('braintree.nonces'),
    merchantAccounts: store.table('braintree.merchant_accounts'),
    plans: store.table('braintree.plans'),
    modifications: store.table('braintree.modifications'),
    subscriptions: store.table('braintree.subscriptions'),
    transactions: store.table('braintree.transactions'),
    requestKeys: store.table('braintree.request_keys'),
    webhooks: store.table('braintree.webhooks'),
    settings: store.table('braintree.settings'),
  }
  tables.paymentMethods.indexBy('customer', (row) => row.customerId)
  tables.subscriptions.indexBy('customer', (row) => row.customerId)
  tables.subscriptions.indexBy('token', (row) => row.paymentMethodToken)
  tables.transactions.indexBy('customer', (row) => row.customer?.id ?? null)
  tables.transactions.indexBy('sale', saleKey)
  return tables
}

/** Equal for sales that the duplicate check takes for one: the same amount, method and order. */
export function saleKey(
  sale: Pick<
    TransactionRow,
    'type' | 'subscriptionId' | 'amount' | 'currency' | 'orderId' | 'token' | 'instrument'
  >,
): string | null {
  if (sale.type !== 'sale' || sale.subscriptionId !== null) return null
  const { instrument } = sale
  const method =
    sale.token ??
    (instrument.kind === 'credit_card'
      ? instrument.card.uniqueNumberIdentifier
      : instrument.paypal.email)
  return JSON.stringify([sale.amount, sale.currency, method, sale.orderId])
}
