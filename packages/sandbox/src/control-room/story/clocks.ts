import type { TestClockRow } from '../../stripe/state/rows.ts'
import { timeOn } from '../../stripe/state/test-clocks.ts'
import type { Watched, Who } from './watched.ts'

/** A test clock of Stripe's, beside the sandbox's own. */
export interface TestClock {
  readonly id: string
  readonly name: string | null
  /** ISO 8601. */
  readonly now: string
  readonly status: string
  /** The customers that live by it. */
  readonly customers: number
}

/** Newest first. */
export function testClocks({ stripe }: Watched): TestClock[] {
  const rows = stripe?.context.tables['test_helpers.test_clock'].newestFirst() ?? []
  return Array.from(rows, (row) => describe(stripe, row))
}

/** Null where there is none of that id. */
export function findTestClock({ stripe }: Watched, id: string): TestClock | null {
  const row = stripe?.context.tables['test_helpers.test_clock'].get(id)
  return row ? describe(stripe, row) : null
}

/** The test clock that a customer lives by; null for the sandbox's own. */
export function clockOf(watched: Watched, { provider, id }: Who): TestClock | null {
  if (provider !== 'stripe') return null
  const clock = watched.stripe?.context.tables.customer.get(id)?.test_clock
  return clock ? findTestClock(watched, clock) : null
}

/** What time it is for a customer. */
export function nowFor(watched: Watched, who: Who): Date {
  const clock = clockOf(watched, who)
  return clock ? new Date(clock.now) : watched.clock.now()
}

function describe(stripe: Watched['stripe'], row: TestClockRow): TestClock {
  const customers = stripe?.context.tables.customer.findBy('test_clock', row.id) ?? []
  return {
    id: row.id,
    name: row.name,
    now: new Date(timeOn(row) * 1000).toISOString(),
    status: row.status,
    customers: customers.filter(({ $ }) => !$.deleted).length,
  }
}
