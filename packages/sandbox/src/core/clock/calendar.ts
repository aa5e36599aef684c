/**
 * Length of a UTC day in milliseconds. All calendar arithmetic here is in UTC, as at the payment
 * providers.
 */

const DAY_MS = 86_400_000

const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/**
 * Returns the number of days in a month of a year. `month` counts from 0 (January); 12 means
 * January of the next year.
 */
export function daysInMonth(year: number, month: number): number {
  const inYear = year + Math.floor(month / 12)
  const isLeap = inYear % 4 === 0 && (inYear % 100 !== 0 || inYear % 400 === 0)
  const at = ((month % 12) + 12) % 12
  return isLeap && at === 1 ? 29 : (DAYS[at] as number)
}

/**
 * Adds a number of months to a date (the anchor). Keeps the anchor's day of the month, or takes the
 * last day of a shorter month. Always count from the anchor, never from a previous result: 31
 * January gives 28 February, then 31 March.
 */
export function addMonths(anchor: Date, months: number): Date {
  const month = anchor.getUTCFullYear() * 12 + anchor.getUTCMonth() + months
  const year = Math.floor(month / 12)
  const day = Math.min(anchor.getUTCDate(), daysInMonth(year, month - year * 12))
  const timeOfDay = anchor.getTime() - Math.floor(anchor.getTime() / DAY_MS) * DAY_MS
  return new Date(Date.UTC(year, month - year * 12, day) + timeOfDay)
}

/** Formats the UTC day of a time, such as `2026-01-31`. */
export function formatIsoDay(date: Date): string {
  return date.toISOString().slice(0, 10)
}
