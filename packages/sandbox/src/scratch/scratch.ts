import type { Merchants } from '../braintree/api/keys.ts'
import type { BraintreeOptions } from '../braintree/server/options.ts'
import { openBraintree } from '../braintree/server/server.ts'
import { MovableClock } from '../core/clock/clock.ts'
import { FailedJobs } from '../core/clock/failed-jobs.ts'
import { Outbox } from '../core/outbox.ts'
import type { ProviderContext } from '../core/provider-context.ts'
import { Store, type StoreSnapshot } from '../core/store/store.ts'
import { Trouble } from '../core/trouble.ts'
import type { StripeOptions } from '../stripe/server/options.ts'
import { openStripe } from '../stripe/server/server.ts'
import type { StripeContext } from '../stripe/state/context.ts'

/** Both providers without their servers: nobody calls them, and they send nothing to anybody. */
export interface Scratch extends ProviderContext {
  readonly stripe: StripeContext | null
  /** By merchant id. */
  readonly braintree: Merchants | null
}

/** How each provider starts; null leaves it out. */
export interface WantedProviders {
  readonly stripe: StripeOptions | null
  readonly braintree: BraintreeOptions | null
}

export interface ScratchOptions extends WantedProviders {
  readonly now: Date
  /** What is in it; a new one unless told. Its objects become the rows. */
  readonly rows?: StoreSnapshot
  readonly seed: number
}

/** To try something out: whatever happens here, the sandbox itself does not change. */
export function openScratch(options: ScratchOptions): Scratch {
  const clock = new MovableClock(options.now)
  const store = new Store(options.seed)
  if (options.rows) store.adopt(options.rows)
  const outbox = new Outbox({
    clock,
    store,
    fetch: async () => new Response(null, { status: 200 }),
  })
  const trouble = new Trouble(store)
  const failures = new FailedJobs({ store, log: () => {} })
  const provided: ProviderContext = { clock, store, outbox, trouble, failures }
  return {
    ...provided,
    stripe: options.stripe && openStripe(provided, options.stripe),
    braintree: options.braintree && openBraintree(provided, options.braintree),
  }
}
