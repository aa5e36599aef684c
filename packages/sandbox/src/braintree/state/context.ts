import type { ProviderContext } from '../../core/provider-context.ts'
import type { VersionLog } from '../../core/version-log.ts'
import { type CalendarDay, toCalendarDay } from '../wire/days.ts'
import type { MerchantAccountRow, SettingsRow } from './rows/merchant.ts'
import type { BraintreeTables } from './tables.ts'

/** A merchant's API keys, which sign the SDK's calls and the sandbox's webhooks. */
export interface MerchantKeys {
  readonly merchantId: string
  readonly publicKey: string
  readonly privateKey: string
}

/** State and services of a Braintree merchant, which every operation uses. */
export interface BraintreeContext extends ProviderContext {
  /**
   * Prefix of the names of the merchant's tables and jobs: `braintree` for the first merchant,
   * `braintree/<merchant>` for the others.
   */
  readonly name: string
  readonly keys: MerchantKeys
  readonly tables: BraintreeTables
  /** Log of earlier versions of the objects. `null` if there is no control room to show them. */
  readonly versions: VersionLog | null
  /** Base URL of the Braintree server. Set once the server listens. */
  baseUrl: string
}

/** Kinds of objects whose earlier versions are kept in the version log. */
export const VERSIONED_OBJECT_KINDS = [
  'customers',
  'paymentMethods',
  'subscriptions',
  'transactions',
  'plans',
  'modifications',
] as const

/** Runs a step and records the changes of objects in the version log, with the given cause. */
export function recordVersionsWithCause<T>(
  { versions }: BraintreeContext,
  cause: string,
  run: () => T,
): T {
  return versions ? versions.recordStep(cause, run) : run()
}

export function getCurrentDay(context: BraintreeContext): CalendarDay {
  return toCalendarDay(context.clock.nowMs())
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

export function readMerchantSettings(context: BraintreeContext): SettingsRow {
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
 * Generates an unused id in Braintree's alphabet: lower-case letters and digits, without letters
 * that resemble digits.
 */
export function createUnusedId(
  context: BraintreeContext,
  length: number,
  isTaken: (id: string) => boolean,
): string {
  for (;;) {
    const id = context.store.randomText(length, ID_ALPHABET)
    if (!isTaken(id)) return id
  }
}
