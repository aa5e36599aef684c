import type { TestClockRow } from '../../stripe/state/rows.ts'
import { getTestClockTime } from '../../stripe/state/test-clocks.ts'
import type { CustomerRef, ObservedSandbox } from './observed-sandbox.ts'

/** One of Stripe's test clocks. Its customers do not follow the sandbox's own clock. */
export interface TestClock {
  readonly id: string
  readonly name: string | null
  /** Time of the test clock in ISO 8601 format. */
  readonly now: string
  readonly status: string
  /** Number of customers that follow the test clock. */
  readonly customers: number
}

/** Returns Stripe's test clocks, newest first. */
export function listTestClocks({ stripe }: ObservedSandbox): TestClock[] {
  const rows = stripe?.context.tables['test_helpers.test_clock'].newestFirst() ?? []
  return Array.from(rows, (row) => describe(stripe, row))
}

/** Returns the test clock with this id, or `null` if there is none. */
export function findTestClock({ stripe }: ObservedSandbox, id: string): TestClock | null {
  const row = stripe?.context.tables['test_helpers.test_clock'].get(id)
  return row ? describe(stripe, row) : null
}

/**
 * Returns the test clock that a customer follows, or `null` if the customer follows the sandbox's
 * own clock.
 */
export function findCustomerTestClock(
  sandbox: ObservedSandbox,
  { provider, id }: CustomerRef,
): TestClock | null {
  if (provider !== 'stripe') return null
  const clock = sandbox.stripe?.context.tables.customer.get(id)?.test_clock
  return clock ? findTestClock(sandbox, clock) : null
}

/**
 * Returns the present time for a customer: the time of the customer's test clock, or of the
 * sandbox's own clock.
 */
export function getCustomerNow(sandbox: ObservedSandbox, customerRef: CustomerRef): Date {
  const clock = findCustomerTestClock(sandbox, customerRef)
  return clock ? new Date(clock.now) : sandbox.clock.now()
}

function describe(stripe: ObservedSandbox['stripe'], row: TestClockRow): TestClock {
  const customers = stripe?.context.tables.customer.findBy('test_clock', row.id) ?? []
  return {
    id: row.id,
    name: row.name,
    now: new Date(getTestClockTime(row) * 1000).toISOString(),
    status: row.status,
    customers: customers.filter(({ $ }) => !$.deleted).length,
  }
}
