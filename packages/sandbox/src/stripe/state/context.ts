import type { MovableClock } from '../../core/clock/clock.ts'
import type { ProviderContext } from '../../core/provider-context.ts'
import type { StoreTable } from '../../core/store/table.ts'
import type { WireObject } from '../wire/wire-object.ts'
import type { StripeQueues, StripeTables } from './tables.ts'
import { getTestClockTime } from './test-clocks.ts'

/** State and services of the sandbox's Stripe, which every operation uses. */
export interface StripeContext extends ProviderContext {
  readonly tables: StripeTables
  readonly queues: StripeQueues
  /**
   * Dunning settings: `started` from the start-up options, `set` as changed since then (see
   * `getDunningOptions`).
   */
  readonly dunning: { readonly started: DunningOptions; readonly set: StoreTable<DunningOptions> }
  readonly keepEventsForDays: number
  readonly upcomingInvoiceDays: number | null
  /**
   * The account's default API version, for events and for calls without a `Stripe-Version` header.
   */
  readonly apiVersion: string
  /** Converts an event to the format of an API version. Changes the given object in place. */
  readonly convertEvent: (event: WireObject, version: string) => WireObject
  /** Base URL of the hosted pages. Set once the server listens. */
  baseUrl: string
}

/**
 * Returns the present time in Unix seconds: of the test clock, or of the sandbox's own clock if no
 * test clock is given or it was deleted.
 */
export function readClockTime(
  context: { readonly clock: MovableClock; readonly tables: StripeTables },
  testClock: string | null = null,
): number {
  const row = testClock === null ? null : context.tables['test_helpers.test_clock'].get(testClock)
  return row ? getTestClockTime(row) : Math.floor(context.clock.nowMs() / 1000)
}

const SETTINGS_KEY = 'set'

/** Returns the dunning settings that are in effect. */
export function getDunningOptions({ dunning }: StripeContext): DunningOptions {
  return dunning.set.get(SETTINGS_KEY) ?? dunning.started
}

/**
 * Returns the dunning settings at start-up. Settings in `startOptions` override stored settings;
 * all other settings keep their stored values.
 */
export function openDunningSettings(
  settingsTable: StoreTable<DunningOptions>,
  startOptions: Partial<DunningOptions> = {},
): StripeContext['dunning'] {
  const kept = settingsTable.get(SETTINGS_KEY)
  if (kept && Object.keys(startOptions).length > 0)
    settingsTable.set(SETTINGS_KEY, { ...kept, ...startOptions })
  return {
    started: { retryAfterDays: [3, 5, 7], afterLastRetry: 'cancel', ...startOptions },
    set: settingsTable,
  }
}

/**
 * Changes the dunning settings. Retries that are already scheduled are not moved. The settings are
 * part of snapshots and the state file.
 */
export function setDunning(context: StripeContext, dunning: DunningOptions): void {
  context.dunning.set.set(SETTINGS_KEY, dunning)
}

type AfterLastRetry = DunningOptions['afterLastRetry']

/**
 * The values of the dunning setting `afterLastRetry`: what can happen to a subscription after the
 * last retry.
 */
export const AFTER_LAST_RETRY: readonly AfterLastRetry[] = ['cancel', 'unpaid', 'past_due']

/** How Stripe retries failed renewals, as in the settings of Stripe's dashboard. */
export interface DunningOptions {
  /** Days between the payment attempts. */
  readonly retryAfterDays: readonly number[]
  /**
   * Effect on the subscription after the last retry fails: it is canceled, or its status becomes
   * `unpaid` or `past_due`.
   */
  readonly afterLastRetry: 'cancel' | 'unpaid' | 'past_due'
}
