import type { SandboxStore } from '../../core/store/store.ts'
import type { StoreTable } from '../../core/store/table.ts'
import type { MerchantAccountRow, RequestKeyRow, SettingsRow, WebhookRow } from './rows/merchant.ts'
import type { ModificationRow, PlanRow, SubscriptionRow } from './rows/subscriptions.ts'
import type { TransactionRow } from './rows/transactions.ts'
import type {
  AddressRow,
  CustomerRow,
  NonceRow,
  PaymentMethodRow,
  VerificationRow,
} from './rows/vault.ts'

export interface BraintreeTables {
  readonly customers: StoreTable<CustomerRow>
  readonly addresses: StoreTable<AddressRow>
  readonly paymentMethods: StoreTable<PaymentMethodRow>
  readonly verifications: StoreTable<VerificationRow>
  readonly nonces: StoreTable<NonceRow>
  readonly merchantAccounts: StoreTable<MerchantAccountRow>
  readonly plans: StoreTable<PlanRow>
  readonly modifications: StoreTable<ModificationRow>
  readonly subscriptions: StoreTable<SubscriptionRow>
  readonly transactions: StoreTable<TransactionRow>
  readonly requestKeys: StoreTable<RequestKeyRow>
  readonly webhooks: StoreTable<WebhookRow>
  readonly settings: StoreTable<SettingsRow>
}

export function openTables(store: SandboxStore, owner: string): BraintreeTables {
  const tables: BraintreeTables = {
    customers: store.table(`${owner}.customers`),
    addresses: store.table(`${owner}.addresses`),
    paymentMethods: store.table(`${owner}.payment_methods`),
    verifications: store.table(`${owner}.verifications`),
    nonces: store.table(`${owner}.nonces`),
    merchantAccounts: store.table(`${owner}.merchant_accounts`),
    plans: store.table(`${owner}.plans`),
    modifications: store.table(`${owner}.modifications`),
    subscriptions: store.table(`${owner}.subscriptions`),
    transactions: store.table(`${owner}.transactions`),
    requestKeys: store.table(`${owner}.request_keys`),
    webhooks: store.table(`${owner}.webhooks`),
    settings: store.table(`${owner}.settings`),
  }
  tables.addresses.indexBy('customer', (row) => row.customerId)
  tables.paymentMethods.indexBy('customer', (row) => row.customerId)
  tables.subscriptions.indexBy('customer', (row) => row.customerId)
  tables.subscriptions.indexBy('token', (row) => row.paymentMethodToken)
  tables.transactions.indexBy('customer', (row) => row.customer?.id ?? null)
  tables.transactions.indexBy('sale', buildDuplicateSaleKey)
  return tables
}

/**
 * Returns the key by which the duplicate check compares sales: it is equal for sales with the same
 * amount, payment method and order id. `null` for transactions that are not checked.
 */
export function buildDuplicateSaleKey(
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
