import type { ContextByMerchant } from '../braintree/api/keys.ts'
import type { BraintreeOptions } from '../braintree/server/options.ts'
import { openBraintree } from '../braintree/server/server.ts'
import { MovableClock } from '../core/clock/clock.ts'
import { FailedJobs } from '../core/clock/failed-jobs.ts'
import { WebhookOutbox } from '../core/outbox.ts'
import type { ProviderContext } from '../core/provider-context.ts'
import { SandboxStore, type StoreSnapshot } from '../core/store/store.ts'
import { FailureSimulator } from '../core/trouble.ts'
import type { StripeOptions } from '../stripe/server/options.ts'
import { openStripe } from '../stripe/server/server.ts'
import type { StripeContext } from '../stripe/state/context.ts'

/** Stripe and Braintree without HTTP servers. They receive no API calls and send no webhooks. */
export interface OfflineSandbox extends ProviderContext {
  readonly stripe: StripeContext | null
  /** Braintree's merchants by merchant id. `null` if Braintree was not started. */
  readonly braintree: ContextByMerchant | null
}

/** Options with which Stripe and Braintree are started. `null` leaves the provider out. */
export interface ProviderOptions {
  readonly stripe: StripeOptions | null
  readonly braintree: BraintreeOptions | null
}

export interface OfflineSandboxOptions extends ProviderOptions {
  readonly now: Date
  /** Initial objects, which are used without copying. By default there are none. */
  readonly rows?: StoreSnapshot
  readonly seed: number
}

/**
 * Opens both providers without HTTP servers, for forecasts. Nothing that happens there affects the
 * running sandbox.
 */
export function openOfflineSandbox(options: OfflineSandboxOptions): OfflineSandbox {
  const clock = new MovableClock(options.now)
  const store = new SandboxStore(options.seed)
  if (options.rows) store.adopt(options.rows)
  const outbox = new WebhookOutbox({
    clock,
    store,
    fetch: async () => new Response(null, { status: 200 }),
  })
  const trouble = new FailureSimulator(store)
  const failures = new FailedJobs({ store, log: () => {} })
  const provided: ProviderContext = { clock, store, outbox, trouble, failures }
  return {
    ...provided,
    stripe: options.stripe && openStripe(provided, options.stripe),
    braintree: options.braintree && openBraintree(provided, options.braintree),
  }
}
