import { copyJson } from '../../core/store/copy-json.ts'
import type { Table } from '../../core/store/table.ts'
import { openScratch, type Scratch } from '../../scratch/scratch.ts'
import { dunningOf, type StripeContext } from '../../stripe/state/context.ts'
import { BY_CUSTOMER } from '../../stripe/state/tables.ts'
import { allMerchants, findMerchant, type Merchant } from '../story/merchants.ts'
import type { Watched, Who } from '../story/watched.ts'

type AnyTable = Table<{ id?: string }>

/** Kept for looking at: a copy begins its own. */
const NOT_COPIED = [
  'event',
  'webhook_endpoint',
  'v2.core.event_destination',
  'nonces',
  'requestKeys',
  'webhooks',
]
const BY_OWNER = {
  subscription_item: 'subscription',
  line_item: 'invoice',
  invoice_payment: 'invoice',
  refund: 'charge',
} as const
/** Catalogs are small. What is larger and not listed above is copied by what it mentions. */
const SMALL = 2000

/** A copy to try something out on, with the rows of one customer and the whole catalog. */
export function copyCustomer(watched: Watched, who: Who): Scratch {
  const scratch = openCopy(watched)
  if (who.provider === 'stripe' && watched.stripe && scratch.stripe) {
    copyStripe(watched.stripe.context, scratch.stripe, who.id)
  }
  const merchant = who.provider === 'braintree' ? findMerchant(watched, who.merchant) : null
  const copied = merchant && copyOf(scratch, merchant)
  if (merchant && copied) {
    const from = merchant.context.tables as unknown as Record<string, AnyTable>
    const to = copied.context.tables as unknown as Record<string, AnyTable>
    const { customers, paymentMethods, subscriptions, transactions } = merchant.context.tables
    const customer = customers.get(who.id)
    const own = {
      customers: customer ? [[who.id, customer]] : [],
      paymentMethods: paymentMethods.findBy('customer', who.id).map((row) => [row.token, row]),
      subscriptions: subscriptions.findBy('customer', who.id).map((row) => [row.id, row]),
      transactions: transactions.findBy('customer', who.id).map((row) => [row.id, row]),
    } as Record<string, Array<[string, object]>>
    for (const name of Object.keys(from))
      fill(to[name], own[name] ?? from[name]?.entries() ?? [], name)
  }
  copyTrouble(watched, scratch)
  return scratch
}

/** A copy of everything but what is only kept for looking at. */
export function copyEverything(watched: Watched): Scratch {
  const scratch = openCopy(watched)
  const merchants = allMerchants(watched)
  const copies = [
    [watched.stripe?.context.tables, scratch.stripe?.tables],
    ...merchants.map((each) => [each.context.tables, copyOf(scratch, each)?.context.tables]),
  ] as unknown as Array<readonly [Record<string, AnyTable>?, Record<string, AnyTable>?]>
  for (const [from = {}, to = {}] of copies) {
    for (const name of Object.keys(from)) fill(to[name], from[name]?.entries() ?? [], name)
  }
  copyTrouble(watched, scratch)
  return scratch
}

/** The same merchant in a copy. */
export function copyOf({ braintree }: Scratch, { name, context }: Merchant): Merchant | null {
  const copied = braintree?.get(context.keys.merchantId)
  return copied ? { name, context: copied } : null
}

/** How many rows such a copy would have. */
export function countRows(watched: Watched): number {
  const braintree = allMerchants(watched).map(({ context }) => context.tables)
  const tables = [watched.stripe?.context.tables, ...braintree]
  const sizes = tables.flatMap((each) => Object.entries((each ?? {}) as Record<string, AnyTable>))
  return sizes.reduce((sum, [name, { size }]) => (NOT_COPIED.includes(name) ? sum : sum + size), 0)
}

function openCopy({ store, clock, wanted, stripe }: Watched): Scratch {
  const head = store.head()
  const scratch = openScratch({
    now: clock.now(),
    seed: head.seed,
    // Whatever happens in it is of interest, however long ago it is by then.
    stripe: wanted.stripe && {
      ...wanted.stripe,
      keepEventsForDays: 36_500,
      ...(stripe ? { dunning: dunningOf(stripe.context) } : {}),
    },
    braintree: wanted.braintree,
    rows: { ...head, tables: {} },
  })
  return scratch
}

function copyStripe(from: StripeContext, to: StripeContext, customer: string): void {
  const { tables } = from
  const rows: Record<string, Array<{ id: string }>> = {}
  const found = tables.customer.get(customer)
  rows.customer = found ? [found] : []
  for (const kind of BY_CUSTOMER) rows[kind] = tables[kind].findBy('customer', customer)
  for (const [kind, owner] of Object.entries(BY_OWNER) as Array<[keyof typeof BY_OWNER, string]>) {
    const table = tables[kind] as unknown as Table<{ id: string }>
    rows[kind] = (rows[owner] ?? []).flatMap(({ id }) => table.findBy(owner, id))
  }
  const ids = Object.values(rows).flatMap((each) => each.map(({ id }) => id))
  const source = tables as unknown as Record<string, AnyTable>
  const target = to.tables as unknown as Record<string, AnyTable>
  for (const kind of Object.keys(source)) {
    const own = rows[kind]?.map((row): [string, object] => [row.id, row])
    fill(target[kind], own ?? mentioning(source[kind], ids), kind)
  }
}

function* mentioning(
  table: AnyTable | undefined,
  ids: readonly string[],
): Generator<[string, object]> {
  if (!table) return
  const wanted = new Set(ids)
  for (const [key, row] of table.entries()) {
    if (table.size <= SMALL || Object.values(row).some((value) => wanted.has(value as string))) {
      yield [key, row]
    }
  }
}

function fill(
  table: AnyTable | undefined,
  rows: Iterable<readonly [string, object]>,
  name: string,
): void {
  if (NOT_COPIED.includes(name)) return
  table?.clear()
  for (const [key, row] of rows) table?.set(key, copyJson(row))
}

/** What was ordered and has not happened yet happens to the copy too. */
function copyTrouble({ trouble, failures }: Watched, scratch: Scratch): void {
  for (const { customer, codes } of trouble.pending().declines) {
    for (const code of codes) scratch.trouble.declineNextCharge(customer, code)
  }
  const failed = scratch.store.table<object>('failed_jobs')
  for (const job of failures.list()) failed.set(`${job.job}:${job.key}`, job)
}
