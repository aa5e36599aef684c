import { addDuration, type Duration } from '../../core/clock/clock.ts'
import { moveTestClock } from '../../stripe/clocks/move-test-clock.ts'
import { nowOf } from '../../stripe/state/context.ts'
import { countByType, happenedSince, markNow } from '../model/happened.ts'
import type { Controls } from '../story/watched.ts'
import { type Action, type Done, wholeNumber } from './action.ts'

export const UNITS = ['minutes', 'hours', 'days', 'weeks', 'months', 'years'] as const

/** By `count` and `unit`, as the page says it, or by each unit's own field: `months=1&hours=1`. */
export const advance: Action = (form, controls) => {
  const unit = UNITS.find((each) => each === form.get('unit')) ?? 'days'
  const by: Record<string, number> = {}
  for (const each of [...UNITS, 'seconds']) {
    if (form.has(each)) by[each] = wholeNumber(form, each, 0)
  }
  if (Object.keys(by).length === 0) by[unit] = wholeNumber(form, 'count', 1)
  const clock = chosenClock(form, controls)
  return moved(controls, clock, () => clock.advance(by as Duration))
}

export const advanceTo: Action = (form, controls) => {
  const text = (form.get('date') ?? '').trim()
  // A moment that names no zone is meant as all are here.
  const date = new Date(/T[\d:.]+$/.test(text) ? `${text}Z` : text)
  if (Number.isNaN(date.getTime())) {
    throw new RangeError(`${text || 'That'} is no date. Write 2026-03-01, or 2026-03-01T10:00:00Z.`)
  }
  const clock = chosenClock(form, controls)
  return moved(controls, clock, () => clock.advanceTo(date))
}

type Chosen = Pick<Controls['clock'], 'now' | 'advance' | 'advanceTo'>

/** The test clock that `clock` names, or the sandbox's own. */
function chosenClock(form: URLSearchParams, controls: Controls): Chosen {
  const id = form.get('clock') ?? ''
  const { clock, outbox, stripe } = controls
  if (id === '') return clock
  const context = stripe?.context
  if (!context?.tables['test_helpers.test_clock'].has(id)) {
    throw new RangeError(`There is no test clock ${id}.`)
  }
  const now = () => new Date(nowOf(context, id) * 1000)
  const advanceTo = async (date: Date) => {
    if (date < now()) throw new RangeError('The clock moves forward only')
    moveTestClock(context, id, Math.floor(date.getTime() / 1000))
    await outbox.flush()
  }
  return { now, advanceTo, advance: (by) => advanceTo(addDuration(now(), by)) }
}

async function moved(controls: Controls, clock: Chosen, move: () => Promise<void>): Promise<Done> {
  const from = clock.now().toISOString()
  const mark = markNow(controls)
  await move()
  const { events, deliveries } = happenedSince(controls, mark)
  const now = clock.now().toISOString()
  const what =
    events.length === 0
      ? 'Nothing fell due.'
      : `${events.length} things happened, and ${deliveries} webhooks were sent.`
  return {
    said: `It is now ${now.slice(0, 16).replace('T', ' ')}. ${what}`,
    data: {
      from,
      now,
      happened: countByType(events),
      deliveries,
      failedJobs: controls.failures.list().length,
    },
  }
}
