import type { Watched } from '../story/watched.ts'

/** How many of each kind are shown, the newest first. */
const SHOWN = 25

/** `/state.json`: the newest of everything in one answer, for scripts. */
export function readState({ clock, outbox, failures, stripe, braintree }: Watched) {
  return {
    now: clock.now().toISOString(),
    switches: outbox.switches(),
    failedJobs: failures.list().slice(-SHOWN).reverse(),
    stripe: stripe && {
      customers: stripe.handle.customers().slice(0, SHOWN),
      subscriptions: stripe.handle.subscriptions().slice(0, SHOWN),
      invoices: stripe.handle.invoices().slice(0, SHOWN),
      events: stripe.handle.events().slice(-SHOWN).reverse(),
    },
    braintree: braintree && {
      customers: braintree.handle.customers().slice(-SHOWN).reverse(),
      subscriptions: braintree.handle.subscriptions().slice(-SHOWN).reverse(),
      transactions: braintree.handle.transactions().slice(-SHOWN).reverse(),
    },
    deliveries: outbox
      .deliveries()
      .slice(-SHOWN)
      .reverse()
      .map(({ body: _body, ...delivery }) => delivery),
  }
}
