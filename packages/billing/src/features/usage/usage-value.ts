import { InvalidArgument } from '../../core/errors/errors.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Age from which usage can no longer be billed, in milliseconds. */
const MAX_AGE = 35 * DAY
/** Tolerance for clocks that differ, in milliseconds. */
const MAX_AHEAD = 5 * MINUTE
/** How long a provider recognizes repeats, in milliseconds, less an hour for slow requests. */
const RECOGNIZED_FOR = 23 * 60 * MINUTE
/** How long a report can be cancelled after it was sent, in milliseconds. */
const CANCELLABLE_FOR = DAY

/**
 * Quantity of usage: a number, or decimal text if the value has more digits than a number can hold.
 */
export type UsageValue = number | string

const DECIMAL = /^(-?)0*(\d{1,15}?)(?:\.(?=\d)(\d{0,12}?)0*)?$/

/**
 * Checks a quantity of usage, and normalizes it as decimal text: `007.50` becomes `7.5`. It may
 * have up to 15 digits before the decimal point, up to 12 after it, and up to `maxDigits` in total.
 * A negative value corrects earlier reports.
 * @throws {InvalidArgument} for any other value.
 */
export function requireUsageValue(value: unknown, maxDigits = Number.POSITIVE_INFINITY): string {
  // Drops the inexact last digits of a number such as 0.1 + 0.2.
  const text = typeof value === 'number' ? String(Number(value.toPrecision(15))) : value
  const match = typeof text === 'string' ? DECIMAL.exec(text) : null
  if (!match) {
    throw new InvalidArgument(
      `${describe(value)} cannot be counted; expected a number, or a decimal string with at most 15 digits before the point and 12 after it`,
    )
  }
  const [, sign, whole = '0', fraction = ''] = match
  if (`${whole}${fraction}`.replace(/^0+/, '').length > maxDigits) {
    throw new InvalidArgument(
      `${describe(value)} cannot be counted exactly; expected at most ${maxDigits} digits, including those after the point: round it`,
    )
  }
  const size = fraction === '' ? whole : `${whole}.${fraction}`
  return size === '0' ? '0' : `${sign}${size}`
}

function describe(value: unknown): string {
  const text = typeof value === 'string' ? `'${value}'` : String(value)
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}

/**
 * Checks the time at which usage occurred: at most 35 days ago, and at most 5 minutes in the
 * future.
 * @throws {InvalidArgument} for any other time.
 */
export function requireUsageTime(at: unknown, now: Date): Date {
  if (!(at instanceof Date) || Number.isNaN(at.getTime())) {
    throw new InvalidArgument(
      `${describe(at)} is not a date; expected the time of the usage as 'at'`,
    )
  }
  const age = now.getTime() - at.getTime()
  if (age > MAX_AGE) {
    const oldest = new Date(now.getTime() - MAX_AGE)
    throw new InvalidArgument(
      `${at.toISOString()} is more than 35 days ago, too late to be billed: expected ${oldest.toISOString()} or later`,
    )
  }
  if (age < -MAX_AHEAD) {
    throw new InvalidArgument(
      `${at.toISOString()} is in the future; expected at most 5 minutes after ${now.toISOString()}`,
    )
  }
  return at
}

/**
 * Whether usage can no longer be billed, because its billing period ended more than an hour ago.
 * The provider waits an hour before it bills a period. `periodStartsAt` is the start of the current
 * period.
 */
export function isUsageTooLate(at: Date, periodStartsAt: Date, now: Date): boolean {
  return at < periodStartsAt && now.getTime() - periodStartsAt.getTime() > HOUR
}

/**
 * Whether usage may be too late to be billed, because it is more than an hour old. Decides without
 * a request whether the billing period has to be read.
 */
export function mayUsageBeTooLate(at: Date, now: Date): boolean {
  return now.getTime() - at.getTime() > HOUR
}

/**
 * Whether a usage report that was first sent at `askedAt` may be sent again. The provider remembers
 * report ids only for a limited time. After that time, a report that is sent again would count
 * twice.
 */
export function mayReportBeResent(askedAt: Date, now: Date): boolean {
  return now.getTime() - askedAt.getTime() < RECOGNIZED_FOR
}

/** Whether the provider still allows cancelling a usage report that was sent at this time. */
export function mayReportBeCancelled(sentAt: Date, now: Date): boolean {
  return now.getTime() - sentAt.getTime() < CANCELLABLE_FOR
}
