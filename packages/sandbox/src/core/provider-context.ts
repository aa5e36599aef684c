import type { MovableClock } from './clock/clock.ts'
import type { FailedJobs } from './clock/failed-jobs.ts'
import type { Outbox } from './outbox.ts'
import type { Store } from './store/store.ts'
import type { Trouble } from './trouble.ts'

/** The services that Stripe and Braintree share, such as the clock, the store and the outbox. */
export interface ProviderContext {
  readonly clock: MovableClock
  readonly store: Store
  readonly outbox: Outbox
  readonly trouble: Trouble
  readonly failures: FailedJobs
  /** Host names accepted in addition to local names (see `isLocalName`). */
  readonly allowedHosts?: readonly string[] | undefined
}
