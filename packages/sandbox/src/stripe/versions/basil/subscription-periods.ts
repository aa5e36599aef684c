import type { WireObject } from '../../wire/wire-object.ts'
import { isRecord } from '../basics/look-up.ts'
import type { VersionChange } from '../basics/version-change.ts'

/** A subscription had one period for all its items; since basil each item has its own. */
export const subscriptionPeriods: VersionChange = {
  since: '2025-03-31',
  name: 'subscription-periods',
  objects: {
    subscription(wire) {
      Object.assign(wire, periodOf(wire.items))
    },
    subscription_item: forgetPeriod,
  },
  previous: {
    subscription(previous, now) {
      const before = periodOf(previous.items)
      for (const [field, value] of Object.entries(before)) {
        if (value !== periodOf(now.items)[field]) previous[field] = value
      }
      if (sameButPeriods(previous.items, now.items)) delete previous.items
    },
  },
}

function forgetPeriod(item: Record<string, unknown>): void {
  delete item.current_period_start
  delete item.current_period_end
}

/** The shortest period of its items; nothing where there are no items. */
function periodOf(items: unknown): Readonly<Record<string, number>> {
  const periods = itemsIn(items).map((item) => ({
    current_period_start: Number(item.current_period_start),
    current_period_end: Number(item.current_period_end),
  }))
  const length = (period: (typeof periods)[number]) =>
    period.current_period_end - period.current_period_start
  return periods.sort((a, b) => length(a) - length(b))[0] ?? {}
}

function itemsIn(items: unknown): WireObject[] {
  return isRecord(items) && Array.isArray(items.data) ? (items.data as WireObject[]) : []
}

function sameButPeriods(before: unknown, now: unknown): boolean {
  return isRecord(before) && withoutPeriods(before) === withoutPeriods(now)
}

function withoutPeriods(items: unknown): string {
  return JSON.stringify(
    itemsIn(items).map((item) => {
      const rest: Record<string, unknown> = { ...item }
      forgetPeriod(rest)
      return rest
    }),
  )
}
