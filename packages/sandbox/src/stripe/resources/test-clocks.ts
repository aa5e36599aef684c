import type Stripe from 'stripe'
import { listPage } from '../api/lists.ts'
import { idOf, type Operations, op } from '../api/operation.ts'
import { startMoving } from '../clocks/move-test-clock.ts'
import { latestAdvance } from '../state/clock-limits.ts'
import { render } from '../state/render.ts'
import type { TestClockRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { invalidRequest } from '../wire/errors.ts'
import { nulls } from '../wire/wire.ts'
import { deleteCustomer } from './customers.ts'

const DAY = 86_400

/** Clocks beside the sandbox's own. What a customer on one of them buys lives by it. */
export const testClocks: Operations = {
  'TestHelpers/TestClocks.create': op<Stripe.TestHelpers.TestClockCreateParams>(
    (params, { work }) => {
      const row: TestClockRow = {
        ...nulls<Stripe.TestHelpers.TestClock>('test_helpers.test_clock'),
        id: work.newId('clock_1'),
        object: 'test_helpers.test_clock',
        created: work.sandboxNow,
        deletes_after: work.sandboxNow + 30 * DAY,
        frozen_time: params.frozen_time,
        livemode: false,
        name: params.name ?? null,
        status: 'ready',
        status_details: {},
        $: { at: null },
      }
      work.insert('test_helpers.test_clock', row, 'test_helpers.test_clock.created')
      return render('test_helpers.test_clock', row, work.tables)
    },
  ),
  'TestHelpers/TestClocks.retrieve': op((_params, call) =>
    render('test_helpers.test_clock', requireClock(call.work, idOf(call)), call.work.tables),
  ),
  'TestHelpers/TestClocks.list': op<Stripe.TestHelpers.TestClockListParams>(
    (params, { work, path }) =>
      listPage(work.tables['test_helpers.test_clock'].newestFirst(), params, path, (row) =>
        render('test_helpers.test_clock', row, work.tables),
      ),
  ),
  'TestHelpers/TestClocks.del': op((_params, call) => {
    const { work } = call
    const row = requireClock(work, idOf(call))
    for (const customer of work.findBy('customer', 'test_clock', row.id)) {
      if (!customer.$.deleted) deleteCustomer(work, customer)
    }
    work.emit('test_helpers.test_clock.deleted', 'test_helpers.test_clock', row)
    work.remove('test_helpers.test_clock', row)
    return { id: row.id, object: 'test_helpers.test_clock', deleted: true }
  }),
  'TestHelpers/TestClocks.advance': op<Stripe.TestHelpers.TestClockAdvanceParams>(
    (params, call) => {
      const { work } = call
      const row = requireClock(work, idOf(call))
      if (row.status !== 'ready') throw invalidRequest('The test clock is already advancing.')
      if (params.frozen_time <= row.frozen_time) {
        throw invalidRequest('A test clock can only be advanced to a future time.', 'frozen_time')
      }
      const latest = latestAdvance(work, row)
      if (params.frozen_time > latest.time) {
        throw invalidRequest(
          `A test clock can be advanced by at most ${latest.words} at a time.`,
          'frozen_time',
        )
      }
      startMoving(work, row, params.frozen_time)
      return render('test_helpers.test_clock', row, work.tables)
    },
  ),
}

function requireClock(work: UnitOfWork, id: string): TestClockRow {
  return work.require('test_helpers.test_clock', id, 'id')
}
