import type { ProviderContext } from '../../core/provider-context.ts'
import type { VersionLog } from '../../core/version-log.ts'
import { type Day, dayOf } from '../wire/days.ts'
import type { MerchantAccountRow, SettingsRow } from './rows/merchant.ts'
import type { Tables } from './tables.ts'

/** What the SDK signs its calls with, and we our webhooks. */
export interface MerchantKeys {
  readonly merchantId: string
  readonly publicKey: string
  readonly privateKey: string
}

/** What every resource works with. */
export interface BraintreeContext extends ProviderContext {
  /** `braintree`, or `braintree/<merchant>` for the others: what its tables and jobs are called. */
  readonly name: string
  readonly keys: MerchantKeys
  readonly tables: Tables
  /** What objects were like; null where nobody looks. */
  readonly versions: VersionLog | null
  /** This server's own address; known once it listens. */
  baseUrl: string
}

/** What an object can be looked at over time. */
export const KINDS = [
  'customers',
  'paymentMethods',
  'subscriptions',
  'transactions',
  'plans',
  'modifications',
] as const

/** Does something that is kept as the cause of what it changes. */
export function inStep<T>({ versions }: BraintreeContext, cause: string, run: () => T): T {
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

/** A fresh id in the alphabet Braintree uses: lower case, without letters that look like digits. */
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
