import { daysInMonth, isoDay } from '../../core/clock/calendar.ts'

/** A calendar day, `2026-01-31`. Braintree bills by days, not instants; they are UTC days here. */
export type Day = string

const DAY_MS = 86_400_000

/** Midnight at the start of the day. */
export function startOfDay(day: Day): number {
  return Date.parse(`${day}T00:00:00Z`)
}

export function dayOf(ms: number): Day {
  return isoDay(new Date(ms))
}

export function addDaysTo(day: Day, days: number): Day {
  return dayOf(startOfDay(day) + days * DAY_MS)
}

/** Days from one day to a later one; 0 for the same day. */
export function daysBetween(from: Day, to: Day): number {
  return Math.round((startOfDay(to) - startOfDay(from)) / DAY_MS)
}

/** A real calendar day, or null: `2026-02-30` is refused, and so is a time of day. */
export function parseDay(value: unknown): Day | null {
  if (typeof value !== 'string') return null
  // A date in an SDK's params arrives as an ISO instant: its UTC day counts.
  const [, day, offset] = /^(\d{4}-\d{2}-\d{2})(?:T[\d:.]+(Z|[+-]\d{2}:\d{2}))?$/.exec(value) ?? []
  if (!day) return null
  const ms = startOfDay(day)
  if (Number.isNaN(ms) || dayOf(ms) !== day) return null
  const instant = offset === undefined ? ms : Date.parse(value)
  return Number.isNaN(instant) ? null : dayOf(instant)
}

/**
 * The value of `billing_day_of_month` for a first billing on this day. Braintree knows 1 to 28 and
 * 31, "the last day of the month", which stands for 29 and 30 as well.
 */
export function anchorOf(day: Day): number {
  const number = Number(day.slice(8))
  return number > 28 ? 31 : number
}

/** The billing day `months` after the month of `day`, by the anchor. */
export function billingDay(day: Day, months: number, anchor: number): Day {
  const year = Number(day.slice(0, 4))
  const month = Number(day.slice(5, 7)) - 1 + months
  const first = new Date(Date.UTC(year, month, 1))
  const last = daysInMonth(first.getUTCFullYear(), first.getUTCMonth())
  first.setUTCDate(Math.min(anchor, last))
  return isoDay(first)
}

/** The first billing day on or after `day`. */
export function nextBillingDay(day: Day, anchor: number): Day {
  const sameMonth = billingDay(day, 0, anchor)
  return sameMonth >= day ? sameMonth : billingDay(day, 1, anchor)
}

/** The same day of a later month, or that month's last day: how a trial in months is counted. */
export function addMonthsTo(day: Day, months: number): Day {
  return billingDay(day, months, Number(day.slice(8)))
}
