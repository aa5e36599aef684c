import type { Clock } from './clock.ts'

/** A period (`'15d'`), a number of seconds, or a function that returns the expiry date. */
export type Lifetime = string | number | (() => Date)

export const SECONDS_PER_YEAR = 365 * 24 * 3600

const UNITS: Readonly<Record<string, number>> = {
  s: 1,
  m: 60,
  h: 3600,
  d: 24 * 3600,
  w: 7 * 24 * 3600,
  y: SECONDS_PER_YEAR,
}
/**
 * Longest lifetime, in seconds. A later expiry would not fit into the databases and JWT
 * libraries that have to hold it.
 */
const MAX_LIFETIME = 100 * SECONDS_PER_YEAR

/**
 * Parses the option with this `name`. Returns a function that computes the expiry from the current
 * time. Fixed periods are validated immediately; the result of a function is validated on each
 * call.
 * @throws TypeError if the lifetime is malformed or longer than 100 years
 */
export function parseLifetime(name: string, lifetime: Lifetime): (now: Date) => Date {
  if (typeof lifetime === 'function') {
    return (now) => {
      const expiry = lifetime()
      const ahead = expiry instanceof Date ? expiry.getTime() - now.getTime() : Number.NaN
      if (!(ahead > 0 && ahead <= MAX_LIFETIME * 1000)) {
        throw new TypeError(
          `${name}() must return a Date in the future, at most 100 years ahead, got ${String(expiry)}`,
        )
      }
      return floorToSecond(expiry.getTime())
    }
  }
  const seconds = parseSeconds(name, lifetime)
  return (now) => floorToSecond(now.getTime() + seconds * 1000)
}

export function parseSeconds(name: string, lifetime: string | number): number {
  const seconds = typeof lifetime === 'number' ? lifetime : secondsOf(lifetime)
  if (!Number.isInteger(seconds) || seconds < 1 || seconds > MAX_LIFETIME) {
    throw new TypeError(
      `${name}: ${JSON.stringify(lifetime)} is not a lifetime. Give whole seconds (3600) or a number with s, m, h, d, w or y ('15d'), up to 100 years.`,
    )
  }
  return seconds
}

function secondsOf(text: string): number {
  const match = /^(\d{1,9})([smhdwy])$/.exec(text)
  return match ? Number(match[1]) * (UNITS[match[2] ?? ''] ?? Number.NaN) : Number.NaN
}

/**
 * Rounds a time down to a whole second, because the claim `exp` has no milliseconds and the stored
 * expiry must be the same.
 */
export function floorToSecond(milliseconds: number): Date {
  return new Date(Math.floor(milliseconds / 1000) * 1000)
}

export function secondsUntil(expiry: Date, clock: Clock): number {
  return Math.max(0, Math.ceil((expiry.getTime() - clock.now().getTime()) / 1000))
}
