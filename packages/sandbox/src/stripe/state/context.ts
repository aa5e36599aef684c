import type { MovableClock } from '../../core/clock/clock.ts'
import type { ProviderContext } from '../../core/provider-context.ts'
import type { Table } from '../../core/store/table.ts'
import type { WireObject } from '../wire/wire-object.ts'
import type { StripePackers } from './packers.ts'
import type { StripeQueues, Tables } from './tables.ts'
import { timeOn } from './test-clocks.ts'

/** What every resource works with. */
export interface StripeContext extends ProviderContext {
  readonly tables: Tables
  readonly queues: StripeQueues
  readonly packers: StripePackers
  /** As it was started, and as somebody has set it since: see `dunningOf`. */
  readonly dunning: { readonly started: DunningOptions; readonly set: Table<DunningOptions> }
  readonly keepEventsForDays: number
  readonly upcomingInvoiceDays: number | null
  /** The account's version: what calls that name none, and events, are told in. */
  readonly apiVersion: string
  /** Makes an event what it is in a version; the given one is changed. */
  readonly tellEvent: (event: WireObject, version: string) => WireObject
  /** Where hosted pages live; known once the server listens. */
  baseUrl: string
}

/** Stripe's time: whole seconds, on a test clock, or on the sandbox's own where none is named or it is gone. */
export function nowOf(
  context: { readonly clock: MovableClock; readonly tables: Tables },
  testClock: string | null = null,
): number {
  const row = testClock === null ? null : context.tables['test_helpers.test_clock'].get(testClock)
  return row ? timeOn(row) : Math.floor(context.clock.nowMs() / 1000)
}

const SET = 'set'

/** How it collects now. */
export function dunningOf({ dunning }: StripeContext): DunningOptions {
  return dunning.set.get(SET) ?? dunning.started
}

/** What a start names is in force, whatever a state file has kept; what it does not name stays as it was set. */
export function startDunning(
  set: Table<DunningOptions>,
  named: Partial<DunningOptions> = {},
): StripeContext['dunning'] {
  const kept = set.get(SET)
  if (kept && Object.keys(named).length > 0) set.set(SET, { ...kept, ...named })
  return { started: { retryAfterDays: [3, 5, 7], afterLastRetry: 'cancel', ...named }, set }
}

/** From now on, for retries that are not planned yet; a snapshot and a state file carry it. */
export function setDunning(context: StripeContext, dunning: DunningOptions): void {
  context.dunning.set.set(SET, dunning)
}

type AfterLastRetry = DunningOptions['afterLastRetry']

/** What may become of a subscription after the last retry. */
export const AFTER_LAST_RETRY: readonly AfterLastRetry[] = ['cancel', 'unpaid', 'past_due']

/** How Stripe collects after a failed renewal; the dashboard's settings. */
export interface DunningOptions {
  /** Days from one failed attempt to the next. */
  readonly retryAfterDays: readonly number[]
  /** What becomes of the subscription after the last retry. */
  readonly afterLastRetry: 'cancel' | 'unpaid' | 'past_due'
}
