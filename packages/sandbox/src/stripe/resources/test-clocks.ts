import type { StripeOperations } from '../api/operation.ts'
import {
  createOperation,
  customOperation,
  listOperation,
  removeOperation,
  retrieveOperation,
} from '../api/resource.ts'
import { startAdvancing } from '../clocks/move-test-clock.ts'
import { createBlankRow } from '../state/blank.ts'
import { computeLatestAdvance } from '../state/clock-limits.ts'
import { createInvalidRequestFault } from '../wire/errors.ts'
import { pickSentFields } from '../wire/fields.ts'
import { deleteCustomer } from './customers.ts'

const DAY = 86_400

/**
 * Operations on test clocks, which are independent of the sandbox's own clock. Everything that a
 * customer buys follows the customer's test clock.
 */
export const testClockOperations: StripeOperations = {
  'TestHelpers/TestClocks.create': createOperation(
    'test_helpers.test_clock',
    (params, { work }) => ({
      ...createBlankRow('test_helpers.test_clock'),
      id: work.newId('clock_1'),
      created: work.sandboxNow,
      deletes_after: work.sandboxNow + 30 * DAY,
      ...pickSentFields(params, 'name'),
      frozen_time: params.frozen_time,
      status: 'ready',
      status_details: {},
      $: { at: null },
    }),
  ),
  'TestHelpers/TestClocks.retrieve': retrieveOperation('test_helpers.test_clock'),
  'TestHelpers/TestClocks.list': listOperation('test_helpers.test_clock'),
  'TestHelpers/TestClocks.del': removeOperation('test_helpers.test_clock', (row, { work }) => {
    for (const customer of work.findBy('customer', 'test_clock', row.id)) {
      if (!customer.$.deleted) deleteCustomer(work, customer)
    }
    work.emit('test_helpers.test_clock.deleted', 'test_helpers.test_clock', row)
    work.remove('test_helpers.test_clock', row)
  }),
  'TestHelpers/TestClocks.advance': customOperation(
    'test_helpers.test_clock',
    (params, { work, id }) => {
      const row = work.require('test_helpers.test_clock', id)
      if (row.status !== 'ready')
        throw createInvalidRequestFault('The test clock is already advancing.')
      if (params.frozen_time <= row.frozen_time) {
        throw createInvalidRequestFault(
          'A test clock can only be advanced to a future time.',
          'frozen_time',
        )
      }
      const latest = computeLatestAdvance(work, row)
      if (params.frozen_time > latest.time) {
        throw createInvalidRequestFault(
          `A test clock can be advanced by at most ${latest.words} at a time.`,
          'frozen_time',
        )
      }
      startAdvancing(work, row, params.frozen_time)
      return row
    },
  ),
}
