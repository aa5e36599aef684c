import { copyJson } from '../../core/store/copy-json.ts'
import type { StripeContext } from '../../stripe/state/context.ts'
import { renderEvent } from '../../stripe/state/events.ts'
import { render } from '../../stripe/state/render.ts'
import type { Rows } from '../../stripe/state/rows.ts'
import { allMerchants, type Merchant } from '../story/merchants.ts'
import type { Watched } from '../story/watched.ts'

/** How many of each kind are shown, the newest first. */
const SHOWN = 25

/** `/state.json`: the newest of everything in one answer, for scripts. */
export function readState(watched: Watched) {
  const { clock, outbox, failures, stripe } = watched
  const [first, ...others] = allMerchants(watched)
  return {
    now: clock.now().toISOString(),
    switches: outbox.switches(),
    failedJobs: failures.list().slice(-SHOWN).reverse(),
    stripe: stripe && newestAtStripe(stripe.context),
    braintree: first && {
      ...newestAtBraintree(first),
      ...(others.length > 0 && {
        merchants: Object.fromEntries(
          others.map((each) => [String(each.name), newestAtBraintree(each)]),
        ),
      }),
    },
    deliveries: newestOf(outbox.newestFirst()).map(({ body: _body, ...delivery }) => delivery),
  }
}

function newestAtStripe(context: StripeContext) {
  const { tables } = context
  const newest = (kind: 'customer' | 'subscription' | 'invoice') =>
    newestOf<Rows[typeof kind]>(tables[kind].newestFirst()).map((row) =>
      copyJson(render(kind, row, tables)),
    )
  return {
    customers: newest('customer').filter((customer) => customer.deleted !== true),
    subscriptions: newest('subscription'),
    invoices: newest('invoice'),
    events: newestOf(tables.event.newestFirst()).map((row) => renderEvent(context, row, 0)),
  }
}

function newestAtBraintree({ context: { tables } }: Merchant) {
  return {
    customers: copyJson(newestOf(tables.customers.newestFirst())),
    subscriptions: copyJson(newestOf(tables.subscriptions.newestFirst())),
    transactions: copyJson(newestOf(tables.transactions.newestFirst())),
  }
}

function newestOf<Row>(rows: Iterable<Row>): Row[] {
  const found: Row[] = []
  for (const row of rows) {
    if (found.push(row) === SHOWN) break
  }
  return found
}
