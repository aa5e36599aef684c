import type { MovableClock } from './clock/clock.ts'
import type { FailedJobs } from './clock/failed-jobs.ts'
import type { Outbox } from './outbox.ts'
import type { Store } from './store/store.ts'
import type { Trouble } from './trouble.ts'

/** What every provider is given to work with. */
export interface ProviderContext {
  readonly clock: MovableClock
  readonly store: Store
  readonly outbox: Outbox
  readonly trouble: Trouble
  readonly failures: FailedJobs
  /** Names to be called by, besides those that nobody can register. */
  readonly allowedHosts?: readonly string[] | undefined
}
