import type { TestClockRow } from '../../stripe/state/rows.ts'
import { testClockTime } from '../../stripe/state/test-clocks.ts'
import type { CustomerRef, Watched } from './watched.ts'

/** A test clock of Stripe, in addition to the sandbox's own clock. */
export interface TestClock {
  readonly id: string
  readonly name: string | null
  /** The clock's time as ISO 8601. */
  readonly now: string
  readonly status: string
  /** Number of customers on the clock. */
  readonly customers: number
}

/** Returns the test clocks, newest first. */
export function testClocks({ stripe }: Watched): TestClock[] {
  const rows = stripe?.context.tables['test_helpers.test_clock'].newestFirst() ?? []
  return Array.from(rows, (row) => describe(stripe, row))
}

/** Returns the test clock with this id, or `null`. */
export function findTestClock({ stripe }: Watched, id: string): TestClock | null {
  const row = stripe?.context.tables['test_helpers.test_clock'].get(id)
  return row ? describe(stripe, row) : null
}

/** Returns the customer's test clock, or `null` if the customer uses the sandbox's own clock. */
export function clockOf(watched: Watched, { provider, id }: CustomerRef): TestClock | null {
  if (provider !== 'stripe') return null
  const clock = watched.stripe?.context.tables.customer.get(id)?.test_clock
  return clock ? findTestClock(watched, clock) : null
}

/** Returns the present time of a customer. */
export function nowFor(watched: Watched, who: CustomerRef): Date {
  const clock = clockOf(watched, who)
  return clock ? new Date(clock.now) : watched.clock.now()
}

function describe(stripe: Watched['stripe'], row: TestClockRow): TestClock {
  const customers = stripe?.context.tables.customer.findBy('test_clock', row.id) ?? []
  return {
    id: row.id,
    name: row.name,
    now: new Date(testClockTime(row) * 1000).toISOString(),
    status: row.status,
    customers: customers.filter(({ $ }) => !$.deleted).length,
  }
}
