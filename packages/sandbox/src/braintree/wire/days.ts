import { daysInMonth } from '@tollgate/http'

/** A calendar day such as `2026-01-31`. Braintree bills by days; the sandbox uses UTC days. */
export type CalendarDay = string

const DAY_MS = 86_400_000

/** Returns the start of the day in epoch milliseconds. */
export function startOfDay(day: CalendarDay): number {
  return Date.parse(`${day}T00:00:00Z`)
}

export function toCalendarDay(ms: number): CalendarDay {
  return new Date(ms).toISOString().slice(0, 10)
}

export function addDaysTo(day: CalendarDay, days: number): CalendarDay {
  return toCalendarDay(startOfDay(day) + days * DAY_MS)
}

/** Returns the number of days from one day to a later one. `0` for the same day. */
export function countDaysBetween(from: CalendarDay, to: CalendarDay): number {
  return Math.round((startOfDay(to) - startOfDay(from)) / DAY_MS)
}

/**
 * Parses a calendar day. Returns `null` for days that do not exist, such as `2026-02-30`, and for
 * other texts.
 */
export function parseDay(value: unknown): CalendarDay | null {
  if (typeof value !== 'string') return null
  // SDKs send a date as an ISO time; its day in UTC counts.
  const [, day, offset] = /^(\d{4}-\d{2}-\d{2})(?:T[\d:.]+(Z|[+-]\d{2}:\d{2}))?$/.exec(value) ?? []
  if (!day) return null
  const ms = startOfDay(day)
  if (Number.isNaN(ms) || toCalendarDay(ms) !== day) return null
  const instant = offset === undefined ? ms : Date.parse(value)
  return Number.isNaN(instant) ? null : toCalendarDay(instant)
}

/**
 * Returns the `billing_day_of_month` for a first billing date: 1 to 28, or 31 (the last day of the
 * month) for the 29th, 30th and 31st.
 */
export function toBillingDayOfMonth(day: CalendarDay): number {
  const number = Number(day.slice(8))
  return number > 28 ? 31 : number
}

/**
 * Returns the billing day in the month that is `months` months after the month of `day`.
 * `monthlyBillingDay` is the subscription's `billing_day_of_month`.
 */
export function addMonthsToBillingDay(
  day: CalendarDay,
  months: number,
  monthlyBillingDay: number,
): CalendarDay {
  const year = Number(day.slice(0, 4))
  const month = Number(day.slice(5, 7)) - 1 + months
  const first = new Date(Date.UTC(year, month, 1))
  const last = daysInMonth(first.getUTCFullYear(), first.getUTCMonth())
  first.setUTCDate(Math.min(monthlyBillingDay, last))
  return toCalendarDay(first.getTime())
}

/** Returns the first billing day on or after `day`. `anchor` is the `billing_day_of_month`. */
export function findNextBillingDay(day: CalendarDay, anchor: number): CalendarDay {
  const sameMonth = addMonthsToBillingDay(day, 0, anchor)
  return sameMonth >= day ? sameMonth : addMonthsToBillingDay(day, 1, anchor)
}

/**
 * Adds months to a day. If the month has no day with this number, returns its last day. Used for
 * trials in months.
 */
export function addMonthsTo(day: CalendarDay, months: number): CalendarDay {
  return addMonthsToBillingDay(day, months, Number(day.slice(8)))
}
