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

/** From the first item's start to the last one's end; nothing where there are no items. */
function periodOf(items: unknown): Readonly<Record<string, number>> {
  const data = itemsIn(items)
  if (data.length === 0) return {}
  return {
    current_period_start: Math.min(...data.map((item) => Number(item.current_period_start))),
    current_period_end: Math.max(...data.map((item) => Number(item.current_period_end))),
  }
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
