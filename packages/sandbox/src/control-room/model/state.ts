import { copyJson } from '../../core/store/copy-json.ts'
import type { StripeContext } from '../../stripe/state/context.ts'
import { renderEvent } from '../../stripe/state/events.ts'
import { render } from '../../stripe/state/render.ts'
import type { Rows } from '../../stripe/state/rows.ts'
import type { Watched } from '../story/watched.ts'

/** How many of each kind are shown, the newest first. */
const SHOWN = 25

/** `/state.json`: the newest of everything in one answer, for scripts. */
export function readState({ clock, outbox, failures, stripe, braintree }: Watched) {
  const tables = braintree?.context.tables
  return {
    now: clock.now().toISOString(),
    switches: outbox.switches(),
    failedJobs: failures.list().slice(-SHOWN).reverse(),
    stripe: stripe && newestAtStripe(stripe.context),
    braintree: tables && {
      customers: copyJson(first(tables.customers.newestFirst())),
      subscriptions: copyJson(first(tables.subscriptions.newestFirst())),
      transactions: copyJson(first(tables.transactions.newestFirst())),
    },
    deliveries: first(outbox.newestFirst()).map(({ body: _body, ...delivery }) => delivery),
  }
}

function newestAtStripe(context: StripeContext) {
  const { tables } = context
  const newest = (kind: 'customer' | 'subscription' | 'invoice') =>
    first<Rows[typeof kind]>(tables[kind].newestFirst()).map((row) =>
      copyJson(render(kind, row, tables)),
    )
  return {
    customers: newest('customer').filter((customer) => customer.deleted !== true),
    subscriptions: newest('subscription'),
    invoices: newest('invoice'),
    events: first(tables.event.newestFirst()).map((row) => renderEvent(context, row, 0)),
  }
}

function first<Row>(rows: Iterable<Row>): Row[] {
  const found: Row[] = []
  for (const row of rows) {
    if (found.push(row) === SHOWN) break
  }
  return found
}
