import { addDuration, type Duration } from '@tollgate/http'
import { moveTestClock } from '../../stripe/clocks/move-test-clock.ts'
import { readClockTime } from '../../stripe/state/context.ts'
import { countByType, readCurrentPosition, readEventsSince } from '../model/events-since.ts'
import type { ControllableSandbox } from '../story/observed-sandbox.ts'
import { type ControlAction, type ControlActionResult, readWholeNumber } from './action.ts'

export const CLOCK_STEP_UNITS = ['minutes', 'hours', 'days', 'weeks', 'months', 'years'] as const

/**
 * Handles the form that moves a clock ahead. The duration is given by the fields `count` and
 * `unit`, as the page sends them, or by one field for each unit: `months=1&hours=1`.
 */
export const advanceBy: ControlAction = (form, controls) => {
  const unit = CLOCK_STEP_UNITS.find((each) => each === form.get('unit')) ?? 'days'
  const by: Record<string, number> = {}
  for (const each of [...CLOCK_STEP_UNITS, 'seconds']) {
    if (form.has(each)) by[each] = readWholeNumber(form, each, 0)
  }
  if (Object.keys(by).length === 0) by[unit] = readWholeNumber(form, 'count', 1)
  const clock = findChosenClock(form, controls)
  return moveAndReport(controls, clock, () => clock.advance(by as Duration))
}

export const advanceTo: ControlAction = (form, controls) => {
  const text = (form.get('date') ?? '').trim()
  // A time without a zone is UTC, like all times on these pages.
  const date = new Date(/T[\d:.]+$/.test(text) ? `${text}Z` : text)
  if (Number.isNaN(date.getTime())) {
    throw new RangeError(
      `${text || 'An empty text'} is not a date. Write 2026-03-01 or 2026-03-01T10:00:00Z.`,
    )
  }
  const clock = findChosenClock(form, controls)
  return moveAndReport(controls, clock, () => clock.advanceTo(date))
}

type SelectedClock = Pick<ControllableSandbox['clock'], 'now' | 'advance' | 'advanceTo'>

/** Returns the test clock named by the field `clock`, or the sandbox's own clock. */
function findChosenClock(form: URLSearchParams, controls: ControllableSandbox): SelectedClock {
  const id = form.get('clock') ?? ''
  const { clock, outbox, stripe } = controls
  if (id === '') return clock
  const context = stripe?.context
  if (!context?.tables['test_helpers.test_clock'].has(id)) {
    throw new RangeError(`There is no test clock ${id}.`)
  }
  const now = () => new Date(readClockTime(context, id) * 1000)
  const advanceTo = async (date: Date) => {
    if (date < now()) throw new RangeError('The clock can only move forward')
    moveTestClock(context, id, Math.floor(date.getTime() / 1000))
    await outbox.flush()
  }
  return { now, advanceTo, advance: (by) => advanceTo(addDuration(now(), by)) }
}

async function moveAndReport(
  controls: ControllableSandbox,
  clock: SelectedClock,
  move: () => Promise<void>,
): Promise<ControlActionResult> {
  const from = clock.now().toISOString()
  const mark = readCurrentPosition(controls)
  await move()
  const { events, deliveries } = readEventsSince(controls, mark)
  const now = clock.now().toISOString()
  const what =
    events.length === 0
      ? 'Nothing was due.'
      : `Events: ${events.length}. Webhooks sent: ${deliveries}.`
  return {
    message: `It is now ${now.slice(0, 16).replace('T', ' ')}. ${what}`,
    data: {
      from,
      now,
      happened: countByType(events),
      deliveries,
      failedJobs: controls.failures.list().length,
    },
  }
}
