import type { Clock } from '../clock.ts'
import type { Outbox } from '../outbox.ts'
import type { Store } from '../store.ts'
import type { Trouble } from '../trouble.ts'
import type { DunningOptions } from './options.ts'
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
