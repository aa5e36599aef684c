import { invalidRequest } from '../wire/errors.ts'
import { addIntervals, type Recurrence } from '../wire/periods.ts'
import type { CustomerRow, TestClockRow } from './rows.ts'
import { isOver } from './subscription-status.ts'
import type { UnitOfWork } from './unit-of-work.ts'

/** Stripe's: a clock moves all that lives by it at once. */
const MOST_CUSTOMERS = 3
const MOST_SUBSCRIPTIONS = 3

/** Throws unless the clock has a place for one more customer. */
export function requireClockWithRoom(work: UnitOfWork, id: string): TestClockRow {
  const clock = work.require('test_helpers.test_clock', id, 'test_clock')
  if (customersOn(work, clock).length < MOST_CUSTOMERS) return clock
  throw invalidRequest(`A test clock can have at most ${MOST_CUSTOMERS} customers.`, 'test_clock')
}

/** Throws where a customer on a test clock has as many subscriptions as it can have, planned ones included. */
export function checkRoomForSubscription(work: UnitOfWork, id: string | undefined): void {
  const customer = work.find('customer', id ?? '')
  if (!customer?.test_clock) return
  const running = work.findBy('subscription', 'customer', customer.id)
  const planned = work.findBy('subscription_schedule', 'customer', customer.id)
  const count =
    running.filter((row) => !isOver(row)).length +
    planned.filter(({ status }) => status === 'not_started').length
  if (count < MOST_SUBSCRIPTIONS) return
  throw invalidRequest(
    `A customer on a test clock can have at most ${MOST_SUBSCRIPTIONS} subscriptions.`,
    'customer',
  )
}

/** How far a clock can be advanced at once: two intervals of the shortest subscription that lives by it. */
export function latestAdvance(
  work: UnitOfWork,
  clock: TestClockRow,
): { readonly time: number; readonly words: string } {
  const twice = (recurring: Recurrence) => addIntervals(clock.frozen_time, recurring, 2)
  const times = customersOn(work, clock).flatMap(({ id }) => recurrencesOf(work, id).map(twice))
  if (times.length > 0) {
    return { time: Math.min(...times), words: 'two intervals of its shortest subscription' }
  }
  return { time: twice({ interval: 'year', interval_count: 1 }), words: 'two years' }
}

function customersOn(work: UnitOfWork, clock: TestClockRow): CustomerRow[] {
  return work.findBy('customer', 'test_clock', clock.id).filter(({ $ }) => !$.deleted)
}

function recurrencesOf(work: UnitOfWork, customer: string): Recurrence[] {
  const items = work
    .findBy('subscription', 'customer', customer)
    .filter((row) => !isOver(row))
    .flatMap(({ id }) => work.findBy('subscription_item', 'subscription', id))
  const planned = work
    .findBy('subscription_schedule', 'customer', customer)
    .filter(({ status }) => status === 'not_started')
    .flatMap(({ phases }) => phases.flatMap((phase) => phase.items))
  return [...items, ...planned].flatMap(({ price }) => work.find('price', price)?.recurring ?? [])
}
