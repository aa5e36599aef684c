/** Calendar arithmetic in UTC, as billing providers do it. */

const DAY_MS = 86_400_000

export function daysInMonth(year: number, month: number): number {
  return new Date(Date.UTC(year, month + 1, 0)).getUTCDate()
}

/**
 * The anchor moved by `months`, on the anchor's own day of month, or the last day of a shorter
 * month. Always count from the anchor and never from the last result: 31 January gives
 * 28 February, then 31 March.
 */
export function addMonths(anchor: Date, months: number): Date {
  const first = new Date(
    Date.UTC(
      anchor.getUTCFullYear(),
      anchor.getUTCMonth() + months,
      1,
      anchor.getUTCHours(),
      anchor.getUTCMinutes(),
      anchor.getUTCSeconds(),
      anchor.getUTCMilliseconds(),
    ),
  )
  const last = daysInMonth(first.getUTCFullYear(), first.getUTCMonth())
  first.setUTCDate(Math.min(anchor.getUTCDate(), last))
  return first
}

export function addDays(date: Date, days: number): Date {
  return new Date(date.getTime() + days * DAY_MS)
}

/** `2026-01-31`, the UTC day of an instant. */
export function isoDay(date: Date): string {
  return date.toISOString().slice(0, 10)
}
