import type { Clock } from './clock/clock.ts'
import type { FailedJobs } from './clock/failed-jobs.ts'
import type { Outbox } from './outbox.ts'
import type { Store } from './store/store.ts'
import type { Trouble } from './trouble.ts'

/** What both providers are given to work with. */
export interface ProviderContext {
  readonly clock: Clock
  readonly store: Store
  readonly outbox: Outbox
  readonly trouble: Trouble
  readonly failures: FailedJobs
  /** 0 takes a free port. */
  readonly port: number
}
