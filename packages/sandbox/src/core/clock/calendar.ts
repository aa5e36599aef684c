/** Calendar arithmetic in UTC, as billing providers do it. */

const DAY_MS = 86_400_000

const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/** January is 0, and 12 the next one. */
export function daysInMonth(year: number, month: number): number {
  const inYear = year + Math.floor(month / 12)
  const isLeap = inYear % 4 === 0 && (inYear % 100 !== 0 || inYear % 400 === 0)
  const at = ((month % 12) + 12) % 12
  return isLeap && at === 1 ? 29 : (DAYS[at] as number)
}

/**
 * The anchor moved by `months`, on the anchor's own day of month, or the last day of a shorter
 * month. Always count from the anchor and never from the last result: 31 January gives
 * 28 February, then 31 March.
 */
export function addMonths(anchor: Date, months: number): Date {
  const month = anchor.getUTCFullYear() * 12 + anchor.getUTCMonth() + months
  const year = Math.floor(month / 12)
  const day = Math.min(anchor.getUTCDate(), daysInMonth(year, month - year * 12))
  const timeOfDay = anchor.getTime() - Math.floor(anchor.getTime() / DAY_MS) * DAY_MS
  return new Date(Date.UTC(year, month - year * 12, day) + timeOfDay)
}

export function addDays(date: Date, days: number): Date {
  return new Date(date.getTime() + days * DAY_MS)
}

/** `2026-01-31`, the UTC day of an instant. */
export function isoDay(date: Date): string {
  return date.toISOString().slice(0, 10)
}
