import { findSubscriptionDueAt } from '../../braintree/subscriptions/billing-cycle.ts'
import type { StoreTable } from '../../core/store/table.ts'
import { forecastCustomer } from '../forecast/forecast.ts'
import { deriveBraintreeSteps } from '../story/braintree-steps.ts'
import { formatProviderAndMerchant, listMerchants } from '../story/merchants.ts'
import type { CustomerRef, ObservedSandbox } from '../story/observed-sandbox.ts'
import { type StepAmount, sortNewestFirst, type TimelineStep, toStepAmount } from '../story/step.ts'
import { readEvents } from '../story/stripe-events.ts'
import { toTimelineSteps } from '../story/stripe-steps.ts'
import { type CustomerSummary, findCustomer, findCustomers } from './customers.ts'

export interface ObjectCounts {
  readonly customers: number
  readonly running: number
  readonly pastDue: number
  /** Sums of the amounts that customers owe, one for each currency. */
  readonly owed: readonly StepAmount[]
  readonly undelivered: number
  readonly failedJobs: number
}

/** A step of a timeline, with the name of the customer in `name`. */
export type StepWithCustomerName = TimelineStep & { readonly name: string | null }

const DAY = 86_400_000
/** Number of customers whose next steps are forecast: the ones with the earliest due dates. */
const FORECAST_CUSTOMERS = 8

export function countAllObjects(sandbox: ObservedSandbox): ObjectCounts {
  const { stripe, outbox, failures } = sandbox
  const tables = stripe?.context.tables
  let [customers, running, pastDue] = [0, 0, 0]
  const owed = new Map<string, number>()
  for (const row of tables?.customer.values() ?? []) if (!row.$.deleted) customers++
  for (const { status } of tables?.subscription.values() ?? []) {
    if (['active', 'trialing', 'past_due', 'unpaid', 'paused'].includes(status)) running++
    if (status === 'past_due' || status === 'unpaid') pastDue++
  }
  for (const { status, amount_remaining, currency } of listNewestRows(tables?.invoice)) {
    if (status === 'open') owed.set(currency, (owed.get(currency) ?? 0) + amount_remaining)
  }
  for (const { context } of listMerchants(sandbox)) {
    customers += context.tables.customers.size
    for (const row of context.tables.subscriptions.values()) {
      if (row.status === 'Active' || row.status === 'Past Due') running++
      if (row.status !== 'Past Due') continue
      pastDue++
      const currency = row.currency.toLowerCase()
      owed.set(currency, (owed.get(currency) ?? 0) + row.balance)
    }
  }
  let undelivered = 0
  for (const { state } of outbox.newestFirst()) {
    if (state === 'failed' || state === 'pending') undelivered++
  }
  return {
    customers,
    running,
    pastDue,
    owed: [...owed].flatMap(([currency, minor]) => toStepAmount(minor, currency) ?? []),
    undelivered,
    failedJobs: failures.list().length,
  }
}

/**
 * Returns the next steps of all customers. They are forecast on a copy, for each of the customers
 * with the earliest due dates.
 */
export async function forecastUpcomingSteps(
  sandbox: ObservedSandbox,
  maxSteps: number,
): Promise<StepWithCustomerName[]> {
  const first = listCustomersByDueDate(sandbox).slice(0, FORECAST_CUSTOMERS)
  const last = first.at(-1)
  if (!last) return []
  // An invoice stays a draft for an hour; a later end shows it paid.
  const until = new Date(Math.max(last.at, sandbox.clock.nowMs()) + DAY + 3_600_000)
  const asked = first.map(({ customerRef }) => forecastCustomer(sandbox, customerRef, until))
  const steps = (await Promise.all(asked)).flatMap((each) => each.steps)
  const sorted = steps.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
  return sorted.slice(0, maxSteps).map((step) => withName(sandbox, step))
}

/** Returns the customers sorted by their earliest due date. */
function listCustomersByDueDate(
  sandbox: ObservedSandbox,
): Array<{ at: number; customerRef: CustomerRef }> {
  const first = new Map<string, { at: number; customerRef: CustomerRef }>()
  const note = (at: number | null, customerRef: CustomerRef) => {
    if (at === null) return
    const key = `${formatProviderAndMerchant(customerRef)}:${customerRef.id}`
    if (at < (first.get(key)?.at ?? Number.POSITIVE_INFINITY)) first.set(key, { at, customerRef })
  }
  const tables = sandbox.stripe?.context.tables
  // Objects on a test clock are due only when a person moves that clock.
  for (const row of tables?.subscription.values() ?? []) {
    if (row.test_clock !== null) continue
    const at = row.$.nextAt === null ? null : row.$.nextAt * 1000
    note(at, { provider: 'stripe', merchant: null, id: String(row.customer) })
  }
  for (const row of listNewestRows(tables?.invoice)) {
    if (row.$.nextAt === null || row.customer === null || row.test_clock !== null) continue
    note(row.$.nextAt * 1000, { provider: 'stripe', merchant: null, id: String(row.customer) })
  }
  for (const { name, context } of listMerchants(sandbox)) {
    for (const row of context.tables.subscriptions.values()) {
      note(findSubscriptionDueAt(row), {
        provider: 'braintree',
        merchant: name,
        id: row.customerId,
      })
    }
  }
  return [...first.values()].sort((a, b) => a.at - b.at)
}

/**
 * Reads only the newest 20,000 rows of a table, because older invoices are hardly ever open or due.
 */
function* listNewestRows<Row extends object>(table: StoreTable<Row> | undefined): Generator<Row> {
  yield* takeFirst(table?.newestFirst() ?? [], 20_000)
}

/** Returns the latest steps of all customers, newest first. */
export function listRecentSteps(sandbox: ObservedSandbox, most: number): StepWithCustomerName[] {
  const { stripe } = sandbox
  const events = stripe ? readEvents(stripe.context, { most: most * 8 }).reverse() : []
  const steps = [...toTimelineSteps(events), ...listRecentBraintreeSteps(sandbox, most)]
  return sortNewestFirst(steps)
    .slice(0, most)
    .map((step) => withName(sandbox, step))
}

/**
 * Returns the latest steps at Braintree. Braintree keeps no events, so they are read from the
 * newest customers and transactions.
 */
function listRecentBraintreeSteps(sandbox: ObservedSandbox, most: number): TimelineStep[] {
  return listMerchants(sandbox).flatMap((merchant) => {
    const { customers, transactions } = merchant.context.tables
    const ids = new Set<string>()
    for (const { id } of takeFirst(customers.newestFirst(), most)) ids.add(id)
    for (const { customer } of takeFirst(transactions.newestFirst(), most)) {
      if (customer?.id) ids.add(customer.id)
    }
    return [...ids].flatMap((id) => deriveBraintreeSteps(merchant, id).slice(-most))
  })
}

function* takeFirst<Row>(rows: Iterable<Row>, maxRows: number): Generator<Row> {
  let left = maxRows
  for (const row of rows) {
    if (left-- <= 0) return
    yield row
  }
}

function withName(sandbox: ObservedSandbox, step: TimelineStep): StepWithCustomerName {
  const { provider, merchant, customer } = step
  const found =
    customer === null ? null : findCustomer(sandbox, { provider, merchant, id: customer })
  return { ...step, name: found?.name ?? found?.email ?? null }
}

export function listNewestCustomers(
  sandbox: ObservedSandbox,
  maxCustomers: number,
): CustomerSummary[] {
  return findCustomers(sandbox, { most: maxCustomers })
}
