import type { BraintreeHandle } from '../braintree/server/handle.ts'
import type { MovableClock } from '../core/clock/clock.ts'
import type { FailedJobs } from '../core/clock/failed-jobs.ts'
import type { Outbox } from '../core/outbox.ts'
import type { StripeHandle } from '../stripe/server/handle.ts'

/** What the control room looks at. */
export interface Watched {
  readonly clock: MovableClock
  readonly outbox: Outbox
  readonly failures: FailedJobs
  readonly stripe: StripeHandle | null
  readonly braintree: BraintreeHandle | null
}

/** How many of each kind are shown, the newest first. */
const SHOWN = 25

export type ControlRoomState = ReturnType<typeof readState>

/** What the page shows and `/state.json` sends. */
export function readState({ clock, outbox, failures, stripe, braintree }: Watched) {
  return {
    now: clock.now().toISOString(),
    switches: outbox.switches(),
    failedJobs: failures.list().slice(-SHOWN).reverse(),
    stripe: stripe && {
      customers: stripe.customers().slice(0, SHOWN),
      subscriptions: stripe.subscriptions().slice(0, SHOWN),
      invoices: stripe.invoices().slice(0, SHOWN),
      events: stripe.events().slice(-SHOWN).reverse(),
    },
    braintree: braintree && {
      customers: braintree.customers().slice(-SHOWN).reverse(),
      subscriptions: braintree.subscriptions().slice(-SHOWN).reverse(),
      transactions: braintree.transactions().slice(-SHOWN).reverse(),
    },
    deliveries: outbox
      .deliveries()
      .slice(-SHOWN)
      .reverse()
      .map(({ body: _body, ...delivery }) => delivery),
  }
}
