/**
 * A span of time. Years and months follow the UTC calendar; all other units have a fixed length.
 */
export interface Duration {
  /** Years of twelve calendar months. */
  readonly years?: number
  /** Calendar months. One month after 31 January is the last day of February. */
  readonly months?: number
  /** Weeks of seven days. */
  readonly weeks?: number
  /** Days of 24 hours. */
  readonly days?: number
  /** Hours of 60 minutes. */
  readonly hours?: number
  /** Minutes of 60 seconds. */
  readonly minutes?: number
  /** Seconds, the shortest unit. */
  readonly seconds?: number
}

/**
 * Length of a UTC day in milliseconds. All calendar arithmetic here is in UTC, as at the payment
 * providers.
 */
const DAY_MS = 86_400_000

const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

const UNITS = ['years', 'months', 'weeks', 'days', 'hours', 'minutes', 'seconds']

/**
 * Adds a duration to a date: its years and months first, then the units of fixed length.
 * @example
 * ```ts
 * addDuration(new Date('2026-01-31T00:00:00Z'), { months: 1, hours: 1 }) // 28 February, 01:00
 * ```
 * @throws {TypeError} If the duration is not an object of units with whole numbers.
 */
export function addDuration(date: Date, by: Duration): Date {
  requireDuration(by)
  const months = (by.years ?? 0) * 12 + (by.months ?? 0)
  const seconds =
    ((by.weeks ?? 0) * 7 + (by.days ?? 0)) * 86_400 +
    (by.hours ?? 0) * 3600 +
    (by.minutes ?? 0) * 60 +
    (by.seconds ?? 0)
  return new Date(addMonths(date, months).getTime() + seconds * 1000)
}

/** Rejects a misspelt unit, or a text such as `15d`, which would otherwise move no clock. */
function requireDuration(by: unknown): void {
  const isDuration =
    typeof by === 'object' &&
    by !== null &&
    Object.entries(by).every(
      ([unit, amount]) =>
        UNITS.includes(unit) && (amount === undefined || Number.isInteger(amount)),
    )
  if (isDuration) return
  throw new TypeError(
    `${JSON.stringify(by)} is not a duration. Give whole numbers of units, such as { days: 15 } or { months: 1, hours: 1 }; the units are ${UNITS.join(', ')}.`,
  )
}

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
