import type { ProviderContext } from '../../core/provider-context.ts'
import type { VersionLog } from '../../core/version-log.ts'
import { type Day, dayOf } from '../wire/days.ts'
import type { MerchantAccountRow, SettingsRow } from './rows/merchant.ts'
import type { Tables } from './tables.ts'

/** The keys that sign the SDK's calls and our webhooks. */
export interface MerchantKeys {
  readonly merchantId: string
  readonly publicKey: string
  readonly privateKey: string
}

/** State and services that every operation works with. */
export interface BraintreeContext extends ProviderContext {
  /**
   * Prefix of the merchant's tables and jobs: `braintree`, or `braintree/<merchant>` for additional
   * merchants.
   */
  readonly name: string
  readonly keys: MerchantKeys
  readonly tables: Tables
  /** Log of earlier object versions. `null` if there is no control room to show them. */
  readonly versions: VersionLog | null
  /** Address of this server, set once it listens. */
  baseUrl: string
}

/** Kinds of objects whose versions are recorded. */
export const KINDS = [
  'customers',
  'paymentMethods',
  'subscriptions',
  'transactions',
  'plans',
  'modifications',
] as const

/** Runs a step whose changes are recorded with this cause. */
export function withCause<T>({ versions }: BraintreeContext, cause: string, run: () => T): T {
  return versions ? versions.step(cause, run) : run()
}

export function today(context: BraintreeContext): Day {
  return dayOf(context.clock.nowMs())
}

const DEFAULT_SETTINGS: SettingsRow = {
  retryAfterDays: [3, 5],
  afterRetries: 'cancel',
  prorate: false,
  duplicateWindowSeconds: 30,
  customFields: [],
  credits: false,
  fraudProtection: false,
  notifySettlement: false,
  threeDSecure: true,
  paypal: true,
  challenges: [],
}

export function settingsOf(context: BraintreeContext): SettingsRow {
  return { ...DEFAULT_SETTINGS, ...context.tables.settings.get('merchant') }
}

export function findMerchantAccount(
  context: BraintreeContext,
  id: string | null,
): MerchantAccountRow | null {
  if (id !== null) return context.tables.merchantAccounts.get(id) ?? null
  for (const account of context.tables.merchantAccounts.values()) {
    if (account.isDefault) return account
  }
  return null
}

export function requireDefaultMerchantAccount(context: BraintreeContext): MerchantAccountRow {
  const account = findMerchantAccount(context, null)
  if (!account) throw new Error('A merchant always has a default merchant account')
  return account
}

const ID_ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

/**
 * Returns a new id in Braintree's alphabet: lower-case letters and digits, without letters that
 * resemble digits.
 */
export function freshId(
  context: BraintreeContext,
  length: number,
  isTaken: (id: string) => boolean,
): string {
  for (;;) {
    const id = context.store.randomText(length, ID_ALPHABET)
    if (!isTaken(id)) return id
  }
}
