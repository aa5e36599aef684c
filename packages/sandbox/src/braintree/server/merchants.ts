import type { ProviderContext } from '../../core/provider-context.ts'
import { VersionLog } from '../../core/version-log.ts'
import type { ContextByMerchant } from '../api/keys.ts'
import { type BraintreeContext, VERSIONED_OBJECT_KINDS } from '../state/context.ts'
import { type BraintreeTables, openTables } from '../state/tables.ts'
import type { BraintreeMerchant, BraintreeMerchantOptions, BraintreeOptions } from './options.ts'

/**
 * Opens the tables of all merchants of a Braintree server. `sandbox.braintree` controls the
 * first merchant.
 */
export function openMerchants(
  provided: ProviderContext,
  options: BraintreeOptions,
  { keepVersions = false } = {},
): ContextByMerchant {
  const first: BraintreeMerchant = {
    ...options,
    merchantId: options.merchantId ?? 'sandbox_merchant',
    publicKey: options.publicKey ?? 'sandbox_public_key',
    privateKey: options.privateKey ?? 'sandbox_private_key',
  }
  const merchants = new Map<string, BraintreeContext>()
  const publicKeys = new Set<string>()
  for (const merchant of [first, ...(options.merchants ?? [])]) {
    const { merchantId, publicKey } = merchant
    if (!/^[\w-]+$/.test(merchantId))
      throw new TypeError(`${merchantId} is not a valid merchant id`)
    if (merchants.has(merchantId)) throw new TypeError(`Two merchants have the id ${merchantId}`)
    if (publicKeys.has(publicKey)) throw new TypeError(`Two merchants have the key ${publicKey}`)
    publicKeys.add(publicKey)
    merchants.set(
      merchantId,
      openMerchant(provided, merchant, { isFirst: merchant === first, keepVersions }),
    )
  }
  return merchants
}

function openMerchant(
  provided: ProviderContext,
  merchant: BraintreeMerchant,
  { isFirst, keepVersions }: { isFirst: boolean; keepVersions: boolean },
): BraintreeContext {
  const { merchantId, publicKey, privateKey } = merchant
  // A state saved with only one merchant belongs to that merchant, even if its id changed.
  const name = isFirst ? 'braintree' : `braintree/${merchantId}`
  const tables = openTables(provided.store, name)
  const context: BraintreeContext = {
    ...provided,
    name,
    keys: { merchantId, publicKey, privateKey },
    tables,
    versions: keepVersions ? openVersions(provided, name, tables) : null,
    baseUrl: '',
  }
  openMerchantAccount(context, merchant)
  return context
}

function openVersions(
  { store, clock }: ProviderContext,
  name: string,
  tables: BraintreeTables,
): VersionLog {
  const log = new VersionLog(store, clock, `${name}.versions`)
  for (const kind of VERSIONED_OBJECT_KINDS) log.follow(kind, tables[kind])
  return log
}

/**
 * Creates the default merchant account, unless the merchant already has accounts from a restored
 * state.
 */
function openMerchantAccount(context: BraintreeContext, options: BraintreeMerchantOptions): void {
  const { merchantAccounts } = context.tables
  if (merchantAccounts.size > 0) return
  const currency = options.currency ?? 'USD'
  const id = options.defaultMerchantAccount ?? `sandbox_${currency.toLowerCase()}`
  merchantAccounts.set(id, { id, currency, isDefault: true })
}
