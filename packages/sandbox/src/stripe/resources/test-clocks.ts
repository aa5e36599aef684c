import type Stripe from 'stripe'
import { listPage } from '../api/lists.ts'
import { idOf, type Operations, op } from '../api/operation.ts'
import type { StripeContext } from '../state/context.ts'
import { render } from '../state/render.ts'
import type { TestClockRow } from '../state/rows.ts'
import { type UnitOfWork, workInTime } from '../state/unit-of-work.ts'
import { invalidRequest } from '../wire/errors.ts'
import { nulls } from '../wire/wire.ts'
import type { WireObject } from '../wire/wire-object.ts'

/** All test clocks are the sandbox's one clock under different names. */
export const testClocks: Operations = {
  'TestHelpers/TestClocks.create': op<Stripe.TestHelpers.TestClockCreateParams>(
    (params, { work }) => {
      if (params.frozen_time < work.now) {
        throw invalidRequest(
          `The sandbox has one clock and it already shows ${work.now}: a test clock cannot start before that.`,
          'frozen_time',
        )
      }
      const row: TestClockRow = {
        ...nulls<Stripe.TestHelpers.TestClock>('test_helpers.test_clock'),
        id: work.newId('clock_1'),
        object: 'test_helpers.test_clock',
        created: work.now,
        deletes_after: params.frozen_time + 30 * 86_400,
        frozen_time: params.frozen_time,
        livemode: false,
        name: params.name ?? null,
        status: 'ready',
        status_details: {},
      }
      work.insert('test_helpers.test_clock', row, 'test_helpers.test_clock.created')
      if (params.frozen_time > work.now) startMoving(work, row, params.frozen_time)
      return render('test_helpers.test_clock', row, work.tables)
    },
  ),
  'TestHelpers/TestClocks.retrieve': op((_params, call) => {
    return shown(call.work, requireTestClock(call.work, idOf(call), 'id'))
  }),
  'TestHelpers/TestClocks.list': op<Stripe.TestHelpers.TestClockListParams>(
    (params, { work, path }) =>
      listPage(work.tables['test_helpers.test_clock'].newestFirst(), params, path, (row) =>
        shown(work, row),
      ),
  ),
  'TestHelpers/TestClocks.del': op((_params, call) => {
    const { work } = call
    const row = requireTestClock(work, idOf(call), 'id')
    work.emit('test_helpers.test_clock.deleted', 'test_helpers.test_clock', row)
    work.remove('test_helpers.test_clock', row)
    return { id: row.id, object: 'test_helpers.test_clock', deleted: true }
  }),
  'TestHelpers/TestClocks.advance': op<Stripe.TestHelpers.TestClockAdvanceParams>(
    (params, call) => {
      const { work } = call
      const row = requireTestClock(work, idOf(call), 'id')
      if (row.status !== 'ready') throw invalidRequest('The test clock is already advancing.')
      if (params.frozen_time <= Math.max(row.frozen_time, work.now)) {
        throw invalidRequest('A test clock can only be advanced to a future time.', 'frozen_time')
      }
      if (params.frozen_time > row.frozen_time + 2 * 366 * 86_400) {
        throw invalidRequest(
          'A test clock can be advanced by at most two years at a time.',
          'frozen_time',
        )
      }
      startMoving(work, row, params.frozen_time)
      return render('test_helpers.test_clock', row, work.tables)
    },
  ),
}

/** The sandbox's clock may have been moved from elsewhere. */
function shown(work: UnitOfWork, row: TestClockRow): WireObject {
  const clock = render('test_helpers.test_clock', row, work.tables)
  return row.status === 'ready' ? { ...clock, frozen_time: work.now } : clock
}

export function requireTestClock(work: UnitOfWork, id: string, param = 'test_clock'): TestClockRow {
  return work.require('test_helpers.test_clock', id, param)
}

/** Responds at once with `advancing`; the clock moves behind the response. */
function startMoving(work: UnitOfWork, row: TestClockRow, target: number): void {
  work.edit('test_helpers.test_clock', row)
  row.status = 'advancing'
  row.status_details = { advancing: { target_frozen_time: target } }
  work.emit('test_helpers.test_clock.advancing', 'test_helpers.test_clock', row)
  const { context } = work
  setImmediate(() => {
    move(context, row.id, target).catch((error: unknown) => noteFailure(context, row.id, error))
  })
}

async function move(context: StripeContext, id: string, target: number): Promise<void> {
  if (target * 1000 > context.clock.nowMs()) await context.clock.advanceTo(new Date(target * 1000))
  workInTime(context, (work) => {
    const row = work.find('test_helpers.test_clock', id)
    if (!row) return
    work.edit('test_helpers.test_clock', row)
    row.frozen_time = target
    row.status = 'ready'
    row.status_details = {}
    work.emit('test_helpers.test_clock.ready', 'test_helpers.test_clock', row)
  })
}

/** As at Stripe: the clock says that it failed, and nobody else notices. */
function noteFailure(context: StripeContext, id: string, error: unknown): void {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`)
  workInTime(context, (work) => {
    const row = work.find('test_helpers.test_clock', id)
    if (!row) return
    work.edit('test_helpers.test_clock', row)
    row.status = 'internal_failure'
    row.status_details = {}
    work.emit('test_helpers.test_clock.internal_failure', 'test_helpers.test_clock', row)
  })
}
