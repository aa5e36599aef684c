import { InvalidArgument } from '../errors/errors.ts'
import { formatValue } from './arguments.ts'

/**
 * Checks that a date passed by a caller is in the future.
 * @throws InvalidArgument unless `at` is a Date later than `now`.
 */
export function requireFuture(argumentName: string, at: unknown, now: Date): void {
  if (at instanceof Date && at.getTime() > now.getTime()) return
  throw new InvalidArgument(
    `${argumentName} is ${formatValue(at)}; expected a date in the future, after ${formatValue(now)}`,
  )
}

/**
 * Checks that a date passed by a caller is not in the future.
 * @throws InvalidArgument unless `at` is a Date not later than `now`.
 */
export function requirePast(what: string, at: unknown, now: Date): void {
  if (at instanceof Date && at.getTime() <= now.getTime()) return
  throw new InvalidArgument(
    `${what} is ${formatValue(at)}; expected a date in the past, before ${formatValue(now)}`,
  )
}

/** Whether two dates are in the same second, the precision of the providers. */
export function isSameSecond(a: Date, b: Date): boolean {
  return Math.floor(a.getTime() / 1000) === Math.floor(b.getTime() / 1000)
}

/** Maximum length of a trial in days: two years, the limit of the providers. */
export const MAX_TRIAL_DAYS = 730
