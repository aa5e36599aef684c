import { copyJson } from '../../core/store/copy-json.ts'
import type { StripeContext } from '../../stripe/state/context.ts'
import { renderEvent } from '../../stripe/state/events.ts'
import { renderRow } from '../../stripe/state/render.ts'
import type { StripeRows } from '../../stripe/state/rows.ts'
import { listMerchants, type SandboxMerchant } from '../story/merchants.ts'
import type { ObservedSandbox } from '../story/observed-sandbox.ts'

/** Number of objects of each kind that are returned, newest first. */
const SHOWN = 25

/** Returns the newest objects of every kind, for programs that read `/state.json`. */
export function readState(sandbox: ObservedSandbox) {
  const { clock, outbox, failures, stripe } = sandbox
  const [first, ...others] = listMerchants(sandbox)
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
    deliveries: newestRows(outbox.newestFirst()).map(({ body: _body, ...delivery }) => delivery),
  }
}

function newestAtStripe(context: StripeContext) {
  const { tables } = context
  const newest = (kind: 'customer' | 'subscription' | 'invoice') =>
    newestRows<StripeRows[typeof kind]>(tables[kind].newestFirst()).map((row) =>
      copyJson(renderRow(kind, row, tables)),
    )
  return {
    customers: newest('customer').filter((customer) => customer.deleted !== true),
    subscriptions: newest('subscription'),
    invoices: newest('invoice'),
    events: newestRows(tables.event.newestFirst()).map((row) => renderEvent(context, row, 0)),
  }
}

function newestAtBraintree({ context: { tables } }: SandboxMerchant) {
  return {
    customers: copyJson(newestRows(tables.customers.newestFirst())),
    subscriptions: copyJson(newestRows(tables.subscriptions.newestFirst())),
    transactions: copyJson(newestRows(tables.transactions.newestFirst())),
  }
}

function newestRows<Row>(rows: Iterable<Row>): Row[] {
  const found: Row[] = []
  for (const row of rows) {
    if (found.push(row) === SHOWN) break
  }
  return found
}
