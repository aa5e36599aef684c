import { createInvalidRequestFault } from '../wire/errors.ts'
import { addIntervals, type BillingRecurrence } from '../wire/periods.ts'
import type { CustomerRow, TestClockRow } from './rows.ts'
import { hasEnded } from './subscription-status.ts'
import type { UnitOfWork } from './unit-of-work.ts'

/** Stripe's limits for test clocks, which move all their objects at once. */
const MAX_CUSTOMERS = 3
const MAX_SUBSCRIPTIONS = 3

/**
 * Finds a test clock that may get another customer.
 * @throws {StripeFault} If the test clock already has the maximum number of customers.
 */
export function requireClockForNewCustomer(work: UnitOfWork, id: string): TestClockRow {
  const clock = work.require('test_helpers.test_clock', id, 'test_clock')
  if (customersOn(work, clock).length < MAX_CUSTOMERS) return clock
  throw createInvalidRequestFault(
    `A test clock can have at most ${MAX_CUSTOMERS} customers.`,
    'test_clock',
  )
}

/**
 * Checks that a customer on a test clock may have another subscription. Scheduled subscriptions
 * count, too.
 * @throws {StripeFault} If the customer has the maximum number of subscriptions.
 */
export function checkSubscriptionLimit(work: UnitOfWork, id: string | undefined): void {
  const customer = work.find('customer', id ?? '')
  if (!customer?.test_clock) return
  const running = work.findBy('subscription', 'customer', customer.id)
  const planned = work.findBy('subscription_schedule', 'customer', customer.id)
  const count =
    running.filter((row) => !hasEnded(row)).length +
    planned.filter(({ status }) => status === 'not_started').length
  if (count < MAX_SUBSCRIPTIONS) return
  throw createInvalidRequestFault(
    `A customer on a test clock can have at most ${MAX_SUBSCRIPTIONS} subscriptions.`,
    'customer',
  )
}

/**
 * Returns the latest time to which a test clock may be moved in one call: two billing intervals
 * ahead, where the shortest interval of all subscriptions on the clock counts, or two years ahead
 * if there are no subscriptions.
 */
export function computeLatestAdvance(
  work: UnitOfWork,
  clock: TestClockRow,
): { readonly time: number; readonly words: string } {
  const twice = (recurring: BillingRecurrence) => addIntervals(clock.frozen_time, recurring, 2)
  const times = customersOn(work, clock).flatMap(({ id }) =>
    listCustomerRecurrences(work, id).map(twice),
  )
  if (times.length > 0) {
    return { time: Math.min(...times), words: 'two intervals of its shortest subscription' }
  }
  return { time: twice({ interval: 'year', interval_count: 1 }), words: 'two years' }
}

function customersOn(work: UnitOfWork, clock: TestClockRow): CustomerRow[] {
  return work.findBy('customer', 'test_clock', clock.id).filter(({ $ }) => !$.deleted)
}

function listCustomerRecurrences(work: UnitOfWork, customer: string): BillingRecurrence[] {
  const items = work
    .findBy('subscription', 'customer', customer)
    .filter((row) => !hasEnded(row))
    .flatMap(({ id }) => work.findBy('subscription_item', 'subscription', id))
  const planned = work
    .findBy('subscription_schedule', 'customer', customer)
    .filter(({ status }) => status === 'not_started')
    .flatMap(({ phases }) => phases.flatMap((phase) => phase.items))
  return [...items, ...planned].flatMap(({ price }) => work.find('price', price)?.recurring ?? [])
}
