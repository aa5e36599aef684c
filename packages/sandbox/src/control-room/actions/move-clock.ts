import type { Duration } from '../../core/clock/clock.ts'
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
  return moved(controls, () => controls.clock.advance(by as Duration))
}

export const advanceTo: Action = (form, controls) => {
  const text = (form.get('date') ?? '').trim()
  // A moment that names no zone is meant as all are here.
  const date = new Date(/T[\d:.]+$/.test(text) ? `${text}Z` : text)
  if (Number.isNaN(date.getTime())) {
    throw new RangeError(`${text || 'That'} is no date. Write 2026-03-01, or 2026-03-01T10:00:00Z.`)
  }
  return moved(controls, () => controls.clock.advanceTo(date))
}

async function moved(controls: Controls, move: () => Promise<void>): Promise<Done> {
  const from = controls.clock.now().toISOString()
  const mark = markNow(controls)
  await move()
  const { events, deliveries } = happenedSince(controls, mark)
  const now = controls.clock.now().toISOString()
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
