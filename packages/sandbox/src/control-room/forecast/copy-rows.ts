import { copyJson } from '../../core/store/copy-json.ts'
import type { StoreTable } from '../../core/store/table.ts'
import { type OfflineSandbox, openOfflineSandbox } from '../../offline/offline-sandbox.ts'
import { moveTestClock } from '../../stripe/clocks/move-test-clock.ts'
import { getDunningOptions, type StripeContext } from '../../stripe/state/context.ts'
import { KINDS_WITH_CUSTOMER } from '../../stripe/state/tables.ts'
import { findMerchant, listMerchants, type SandboxMerchant } from '../story/merchants.ts'
import type { CustomerRef, ObservedSandbox } from '../story/observed-sandbox.ts'

type AnyTable = StoreTable<{ id?: string }>

/** Tables that a copy does not need: logs, webhook registrations and single-use values. */
const NOT_COPIED = [
  'event',
  'webhook_endpoint',
  'v2.core.event_destination',
  'nonces',
  'requestKeys',
  'webhooks',
]
const OWNER_FIELD_BY_TABLE = {
  subscription_item: 'subscription',
  line_item: 'invoice',
  invoice_payment: 'invoice',
  refund: 'charge',
} as const
/**
 * Number of rows up to which a table is copied in full. From a larger table, only rows that refer
 * to a copied object are copied.
 */
const MAX_FULLY_COPIED = 2000

/**
 * Copies the objects of one customer, and the whole catalog of plans and prices, into an offline
 * sandbox.
 */
export function copyCustomer(sandbox: ObservedSandbox, customerRef: CustomerRef): OfflineSandbox {
  const scratch = openCopy(sandbox)
  if (customerRef.provider === 'stripe' && sandbox.stripe && scratch.stripe) {
    copyStripe(sandbox.stripe.context, scratch.stripe, customerRef.id)
  }
  const merchant =
    customerRef.provider === 'braintree' ? findMerchant(sandbox, customerRef.merchant) : null
  const copied = merchant && copyMerchant(scratch, merchant)
  if (merchant && copied) {
    const from = merchant.context.tables as unknown as Record<string, AnyTable>
    const to = copied.context.tables as unknown as Record<string, AnyTable>
    const { customers, paymentMethods, subscriptions, transactions } = merchant.context.tables
    const customer = customers.get(customerRef.id)
    const own = {
      customers: customer ? [[customerRef.id, customer]] : [],
      paymentMethods: paymentMethods
        .findBy('customer', customerRef.id)
        .map((row) => [row.token, row]),
      subscriptions: subscriptions.findBy('customer', customerRef.id).map((row) => [row.id, row]),
      transactions: transactions.findBy('customer', customerRef.id).map((row) => [row.id, row]),
    } as Record<string, Array<[string, object]>>
    for (const name of Object.keys(from))
      fill(to[name], own[name] ?? from[name]?.entries() ?? [], name)
  }
  copyTrouble(sandbox, scratch)
  return scratch
}

/** Copies all objects, except logs and webhook registrations, into an offline sandbox. */
export function copyEverything(sandbox: ObservedSandbox): OfflineSandbox {
  const scratch = openCopy(sandbox)
  const merchants = listMerchants(sandbox)
  const copies = [
    [sandbox.stripe?.context.tables, scratch.stripe?.tables],
    ...merchants.map((each) => [each.context.tables, copyMerchant(scratch, each)?.context.tables]),
  ] as unknown as Array<readonly [Record<string, AnyTable>?, Record<string, AnyTable>?]>
  for (const [from = {}, to = {}] of copies) {
    for (const name of Object.keys(from)) fill(to[name], from[name]?.entries() ?? [], name)
  }
  copyTrouble(sandbox, scratch)
  return scratch
}

/** Finds the merchant of an offline copy that has the same merchant id as the given merchant. */
export function copyMerchant(
  { braintree }: OfflineSandbox,
  { name, context }: SandboxMerchant,
): SandboxMerchant | null {
  const copied = braintree?.get(context.keys.merchantId)
  return copied ? { name, context: copied } : null
}

/** Returns the number of objects that `copyEverything` would copy. */
export function countRows(sandbox: ObservedSandbox): number {
  const braintree = listMerchants(sandbox).map(({ context }) => context.tables)
  const tables = [sandbox.stripe?.context.tables, ...braintree]
  const sizes = tables.flatMap((each) => Object.entries((each ?? {}) as Record<string, AnyTable>))
  return sizes.reduce((sum, [name, { size }]) => (NOT_COPIED.includes(name) ? sum : sum + size), 0)
}

function openCopy({ store, clock, wanted, stripe }: ObservedSandbox): OfflineSandbox {
  const head = store.head()
  const scratch = openOfflineSandbox({
    now: clock.now(),
    seed: head.seed,
    // The default of 30 days would drop events of a longer forecast.
    stripe: wanted.stripe && {
      ...wanted.stripe,
      keepEventsForDays: 36_500,
      ...(stripe ? { dunning: getDunningOptions(stripe.context) } : {}),
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
  for (const kind of KINDS_WITH_CUSTOMER) rows[kind] = tables[kind].findBy('customer', customer)
  for (const [kind, owner] of Object.entries(OWNER_FIELD_BY_TABLE) as Array<
    [keyof typeof OWNER_FIELD_BY_TABLE, string]
  >) {
    const table = tables[kind] as unknown as StoreTable<{ id: string }>
    rows[kind] = (rows[owner] ?? []).flatMap(({ id }) => table.findBy(owner, id))
  }
  const ids = Object.values(rows).flatMap((each) => each.map(({ id }) => id))
  const source = tables as unknown as Record<string, AnyTable>
  const target = to.tables as unknown as Record<string, AnyTable>
  for (const kind of Object.keys(source)) {
    const own = rows[kind]?.map((row): [string, object] => [row.id, row])
    fill(target[kind], own ?? rowsMentioning(source[kind], ids), kind)
  }
}

function* rowsMentioning(
  table: AnyTable | undefined,
  ids: readonly string[],
): Generator<[string, object]> {
  if (!table) return
  const wanted = new Set(ids)
  for (const [key, row] of table.entries()) {
    if (
      table.size <= MAX_FULLY_COPIED ||
      Object.values(row).some((value) => wanted.has(value as string))
    ) {
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

/**
 * Copies the simulated declines that have not happened yet, and the failed jobs, so that both
 * affect the copy as well.
 */
function copyTrouble({ trouble, failures }: ObservedSandbox, scratch: OfflineSandbox): void {
  for (const { customer, codes } of trouble.pending().declines) {
    for (const code of codes) scratch.trouble.declineNextCharge(customer, code)
  }
  const failed = scratch.store.table<object>('failed_jobs')
  for (const job of failures.list()) failed.set(`${job.job}:${job.key}`, job)
}

/**
 * Moves a clock of an offline copy ahead: the given test clock, or the sandbox's own clock for
 * `null`.
 */
export async function advanceCopy(
  scratch: OfflineSandbox,
  testClock: string | null,
  until: Date,
): Promise<void> {
  if (testClock === null || !scratch.stripe) await scratch.clock.advanceTo(until)
  else moveTestClock(scratch.stripe, testClock, Math.floor(until.getTime() / 1000))
}
