import { addMonths } from '@tollgate/http'

export interface BillingRecurrence {
  readonly interval: string
  readonly interval_count: number
}

export interface BillingPeriod {
  readonly start: number
  readonly end: number
}

const DAY = 86_400

/**
 * Adds n billing intervals to the time `anchor` (Unix seconds). Months keep the anchor's day of the
 * month, or take the last day of a shorter month.
 */
export function addIntervals(
  anchor: number,
  { interval, interval_count }: BillingRecurrence,
  n: number,
): number {
  if (interval === 'day') return anchor + n * interval_count * DAY
  if (interval === 'week') return anchor + n * interval_count * 7 * DAY
  const months = n * interval_count * (interval === 'year' ? 12 : 1)
  return addMonths(new Date(anchor * 1000), months).getTime() / 1000
}

/** Returns the billing period that contains the time `at`: start ≤ at < end. */
export function findPeriodAt(
  anchor: number,
  recurrence: BillingRecurrence,
  at: number,
): BillingPeriod {
  const length = addIntervals(anchor, recurrence, 1) - anchor
  let n = Math.floor((at - anchor) / length)
  let start = addIntervals(anchor, recurrence, n)
  while (start > at) start = addIntervals(anchor, recurrence, --n)
  let end = addIntervals(anchor, recurrence, n + 1)
  while (end <= at) {
    start = end
    end = addIntervals(anchor, recurrence, ++n + 1)
  }
  return { start, end }
}

export function hasSameRecurrence(
  a: BillingRecurrence | null,
  b: BillingRecurrence | null,
): boolean {
  return a?.interval === b?.interval && a?.interval_count === b?.interval_count
}
