import { readClockTime, type StripeContext } from '../state/context.ts'
import type { TestClockRow } from '../state/rows.ts'
import { getTestClockTime } from '../state/test-clocks.ts'
import { runScheduled, type UnitOfWork } from '../state/unit-of-work.ts'
import { scheduleBillingOnTestClock } from '../subscriptions/billing-cycle.ts'

/**
 * Starts to move a test clock. The response of the API call has the status `advancing`; the clock
 * moves after the response.
 */
export function startAdvancing(work: UnitOfWork, row: TestClockRow, target: number): void {
  work.edit('test_helpers.test_clock', row)
  row.status = 'advancing'
  row.status_details = { advancing: { target_frozen_time: target } }
  work.emit('test_helpers.test_clock.advancing', 'test_helpers.test_clock', row)
  const { context } = work
  setImmediate(() => finishAdvancing(context, row.id))
}

/** Continues to move the test clocks that were advancing when the process ended. */
export function resumeAdvancing(context: StripeContext): void {
  for (const { id, status } of [...context.tables['test_helpers.test_clock'].values()]) {
    if (status === 'advancing') finishAdvancing(context, id)
  }
}

function finishAdvancing(context: StripeContext, id: string): void {
  const row = context.tables['test_helpers.test_clock'].get(id)
  const target = row?.status_details.advancing?.target_frozen_time
  if (row?.status !== 'advancing' || target === undefined) return
  try {
    moveTestClock(context, id, target)
  } catch (error) {
    // As at Stripe, the clock's status reports the failure; the caller has already received its
    // response.
    process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`)
    stop(context, id, 'internal_failure')
  }
}

/**
 * Moves a test clock to the time `target` and runs everything that becomes due on it, in
 * chronological order. Other clocks do not move.
 */
export function moveTestClock(context: StripeContext, id: string, target: number): void {
  const timeline = scheduleBillingOnTestClock(context, id)
  for (;;) {
    const due = timeline.nextDue()
    if (due === null || due > target * 1000) break
    const now = Math.max(readClockTime(context, id), Math.ceil(due / 1000))
    setTime(context, id, now)
    timeline.fireDue(now * 1000)
  }
  setTime(context, id, target)
  stop(context, id, 'ready')
}

/**
 * Stores the time that a test clock has reached, so that an interrupted move continues from there
 * after a restart.
 */
function setTime(context: StripeContext, id: string, at: number): void {
  const table = context.tables['test_helpers.test_clock']
  const row = table.get(id)
  if (!row) return
  row.$ = { at }
  table.set(id, row)
}

function stop(context: StripeContext, id: string, status: 'ready' | 'internal_failure'): void {
  runScheduled(context, id, (work) => {
    const row = work.find('test_helpers.test_clock', id)
    if (!row) return
    work.edit('test_helpers.test_clock', row)
    row.frozen_time = getTestClockTime(row)
    row.status = status
    row.status_details = {}
    row.$ = { at: null }
    work.emit(`test_helpers.test_clock.${status}`, 'test_helpers.test_clock', row)
  })
}
