/**
 * A calendar day such as `2026-01-31`, because Braintree bills by day. Days have no time zone; we
 * use UTC.
 */
export type CalendarDay = string

const DAY_MS = 86_400_000

export function startOfDay(day: CalendarDay): Date {
  return new Date(`${day}T00:00:00Z`)
}

/**
 * Returns the end of a day. Braintree's last days are inclusive and our end dates exclusive: access
 * lasts through the whole day.
 */
export function endOfDay(day: CalendarDay): Date {
  return new Date(startOfDay(day).getTime() + DAY_MS)
}

export function toCalendarDay(instant: Date): CalendarDay {
  return instant.toISOString().slice(0, 10)
}

/**
 * Adds months, keeping the day of the month on which a subscription is billed. 31 means the last
 * day of the month.
 */
export function addMonths(
  day: CalendarDay,
  months: number,
  monthlyBillingDay: number,
): CalendarDay {
  const [year = 0, month = 1] = day.split('-').map(Number)
  const last = new Date(Date.UTC(year, month + months, 0)).getUTCDate()
  return toCalendarDay(
    new Date(Date.UTC(year, month - 1 + months, Math.min(monthlyBillingDay, last))),
  )
}

/**
 * Finds the first day, on or after `day`, whose day of the month is `anchor`. 31 means the last day
 * of a month.
 */
export function findNextDayOfMonth(day: CalendarDay, anchor: number): CalendarDay {
  const sameMonth = addMonths(day, 0, anchor)
  return sameMonth >= day ? sameMonth : addMonths(day, 1, anchor)
}

/**
 * Returns the billing day of the month for something that starts on this day. The 29th and 30th
 * become the last day (31).
 */
export function toMonthlyBillingDay(day: CalendarDay): number {
  const number = Number(day.slice(8))
  return number > 28 ? 31 : number
}

/** Adds days to a calendar day. */
export function addDays(day: CalendarDay, days: number): CalendarDay {
  return toCalendarDay(new Date(startOfDay(day).getTime() + days * DAY_MS))
}

/** Counts the days from one day to another. Returns 0 for the same day. */
export function countDaysBetween(from: CalendarDay, to: CalendarDay): number {
  return Math.round((startOfDay(to).getTime() - startOfDay(from).getTime()) / DAY_MS)
}

/**
 * Counts the calendar months from one day to another, regardless of the days of the month. Returns
 * at least 1.
 */
export function countMonthsBetween(from: CalendarDay, to: CalendarDay): number {
  const [y1 = 0, m1 = 0] = from.split('-').map(Number)
  const [y2 = 0, m2 = 0] = to.split('-').map(Number)
  return Math.max(1, (y2 - y1) * 12 + m2 - m1)
}
