import type { Clock } from '../../core/clock/clock.ts'
import type { Outbox } from '../../core/outbox.ts'
import type { Store } from '../../core/store/store.ts'
import type { Trouble } from '../../core/trouble.ts'
import type { DunningOptions } from '../server/options.ts'
import type { StripeQueues, Tables } from './tables.ts'

export interface StripeContext {
  readonly clock: Clock
  readonly store: Store
  readonly outbox: Outbox
  readonly trouble: Trouble
  readonly tables: Tables
  readonly queues: StripeQueues
  readonly dunning: DunningOptions
  readonly keepEventsForDays: number
  readonly upcomingInvoiceDays: number | null
  /** Where hosted pages live; known once the server listens. */
  baseUrl: string
}

/** Stripe's time: whole seconds. */
export function nowOf(context: { readonly clock: Clock }): number {
  return Math.floor(context.clock.nowMs() / 1000)
}
