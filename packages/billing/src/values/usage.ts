import { InvalidArgument } from '../errors.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** What was used longer ago can no longer be billed. */
const OLDEST = 35 * DAY
/** Clocks differ a little. */
const AHEAD = 5 * MINUTE
/** How long a provider can tell a repeat from another report, less an hour in which it may be slow. */
const KNOWN_FOR = 23 * 60 * MINUTE
/** How long a report can be taken back after it was sent. */
const CANCELLABLE_FOR = DAY

/** How much was used: a number, or a decimal number as text, which may have more digits. */
export type UsageValue = number | string

const DECIMAL = /^(-?)0*(\d{1,15}?)(?:\.(?=\d)(\d{0,12}?)0*)?$/

/**
 * As it is stored: `007.50` is `7.5`. Fifteen digits before the point and twelve behind it, and together no more than the
 * provider counts with. Below zero is a correction of what was reported before.
 */
export function requireUsageValue(value: unknown, mostDigits = Number.POSITIVE_INFINITY): string {
  // Of 0.1 + 0.2 the last digits are not meant.
  const text = typeof value === 'number' ? String(Number(value.toPrecision(15))) : value
  const match = typeof text === 'string' ? DECIMAL.exec(text) : null
  if (!match) {
    throw new InvalidArgument(
      `${describe(value)} cannot be counted; expected a number, or as text a decimal number with at most 15 digits before the point and 12 behind it`,
    )
  }
  const [, sign, whole = '0', fraction = ''] = match
  if (`${whole}${fraction}`.replace(/^0+/, '').length > mostDigits) {
    throw new InvalidArgument(
      `${describe(value)} cannot be counted exactly; expected at most ${mostDigits} digits, those behind the point included: round it`,
    )
  }
  const size = fraction === '' ? whole : `${whole}.${fraction}`
  return size === '0' ? '0' : `${sign}${size}`
}

function describe(value: unknown): string {
  const text = typeof value === 'string' ? `'${value}'` : String(value)
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}

/** When something was used: at most 35 days ago and 5 minutes ahead. */
export function requireUsageTime(at: unknown, now: Date): Date {
  if (!(at instanceof Date) || Number.isNaN(at.getTime())) {
    throw new InvalidArgument(`${describe(at)} is not a date: 'at' says when it was used`)
  }
  const age = now.getTime() - at.getTime()
  if (age > OLDEST) {
    const oldest = new Date(now.getTime() - OLDEST)
    throw new InvalidArgument(
      `${at.toISOString()} is more than 35 days ago, too late to be billed: expected ${oldest.toISOString()} or later`,
    )
  }
  if (age < -AHEAD) {
    throw new InvalidArgument(
      `${at.toISOString()} is in the future: at most 5 minutes ahead of ${now.toISOString()} are taken`,
    )
  }
  return at
}

/**
 * Whether what was used then can no longer come onto a bill: its period was over for more than an hour, in which the
 * provider waits for such. `periodStartsAt` is when the running one began.
 */
export function isTooLate(at: Date, periodStartsAt: Date, now: Date): boolean {
  return at < periodStartsAt && now.getTime() - periodStartsAt.getTime() > HOUR
}

/** Whether it may be too late at all, before anybody is asked. */
export function isOld(at: Date, now: Date): boolean {
  return now.getTime() - at.getTime() > HOUR
}

/**
 * Whether a report may be sent, again or for the first time. The provider may have it since it was first asked, and
 * forgets ids: after that a repeat would count twice.
 */
export function mayBeSent(askedAt: Date, now: Date): boolean {
  return now.getTime() - askedAt.getTime() < KNOWN_FOR
}

/** Whether what was sent then can still be taken back. */
export function mayBeCancelled(sentAt: Date, now: Date): boolean {
  return now.getTime() - sentAt.getTime() < CANCELLABLE_FOR
}
