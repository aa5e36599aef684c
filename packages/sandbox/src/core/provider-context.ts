import type { MovableClock } from './clock/clock.ts'
import type { FailedJobs } from './clock/failed-jobs.ts'
import type { WebhookOutbox } from './outbox.ts'
import type { SandboxStore } from './store/store.ts'
import type { FailureSimulator } from './trouble.ts'

/** The services that Stripe and Braintree share, such as the clock, the store and the outbox. */
export interface ProviderContext {
  readonly clock: MovableClock
  readonly store: SandboxStore
  readonly outbox: WebhookOutbox
  readonly trouble: FailureSimulator
  readonly failures: FailedJobs
  /** Host names accepted in addition to local names (see `isLocalName`). */
  readonly allowedHosts?: readonly string[] | undefined
}
