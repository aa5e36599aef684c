import type { MovableClock } from '../../core/clock/clock.ts'
import type { ProviderContext } from '../../core/provider-context.ts'
import type { WireObject } from '../wire/wire-object.ts'
import type { StripePackers } from './packers.ts'
import type { StripeQueues, Tables } from './tables.ts'

/** What every resource works with. */
export interface StripeContext extends ProviderContext {
  readonly tables: Tables
  readonly queues: StripeQueues
  readonly packers: StripePackers
  readonly dunning: DunningOptions
  readonly keepEventsForDays: number
  readonly upcomingInvoiceDays: number | null
  /** The account's version: what calls that name none, and events, are told in. */
  readonly apiVersion: string
  /** Makes an event what it is in a version; the given one is changed. */
  readonly tellEvent: (event: WireObject, version: string) => WireObject
  /** Where hosted pages live; known once the server listens. */
  baseUrl: string
}

/** Stripe's time: whole seconds. */
export function nowOf(context: { readonly clock: MovableClock }): number {
  return Math.floor(context.clock.nowMs() / 1000)
}
/** How Stripe collects after a failed renewal; the dashboard's settings. */
export interface DunningOptions {
  /** Days from one failed attempt to the next. */
  readonly retryAfterDays: readonly number[]
  /** What becomes of the subscription after the last retry. */
  readonly afterLastRetry: 'cancel' | 'unpaid' | 'past_due'
}
