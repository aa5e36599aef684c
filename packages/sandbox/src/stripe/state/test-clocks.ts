import type { RowKind, TestClockRow } from './rows.ts'
import type { StripeTables } from './tables.ts'

/** Kinds that can belong to a test clock, by the prefix of their ids. */
const KINDS: ReadonlyArray<readonly [prefix: string, kind: RowKind]> = [
  ['clock_', 'test_helpers.test_clock'],
  ['cus_', 'customer'],
  ['sub_sched_', 'subscription_schedule'],
  ['sub_', 'subscription'],
  ['si_', 'subscription_item'],
  ['in_', 'invoice'],
  ['ii_', 'invoiceitem'],
  ['cn_', 'credit_note'],
  ['pi_', 'payment_intent'],
  ['seti_', 'setup_intent'],
  ['cs_', 'checkout.session'],
  ['bps_', 'billing_portal.session'],
  ['pm_', 'payment_method'],
  ['card_', 'payment_method'],
]

/**
 * Returns the id of the test clock that an object follows: the test clock of its customer. `null`
 * if the object follows the sandbox's own clock.
 */
export function findTestClock(tables: StripeTables, id: string): string | null {
  const kind = KINDS.find(([prefix]) => id.startsWith(prefix))?.[1]
  if (!kind) return null
  if (kind === 'test_helpers.test_clock') return id
  const row = tables[kind].get(id) as { [field: string]: unknown } | undefined
  if (typeof row?.test_clock === 'string') return row.test_clock
  if (typeof row?.customer === 'string') {
    return tables.customer.get(row.customer)?.test_clock ?? null
  }
  return kind === 'subscription_item' && row ? findTestClock(tables, `${row.subscription}`) : null
}

/** Returns the present time of a test clock in Unix seconds, also while it is advancing. */
export function getTestClockTime(row: TestClockRow): number {
  return row.$.at ?? row.frozen_time
}
