import type { QuotaInterval } from './rule.ts'

const LENGTHS = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const

/** The time span over which use is added up and compared with a quota. */
export interface Window {
  readonly startsAt: Date
  readonly endsAt: Date
}

/** The end of a window that never ends. */
const FOREVER = new Date(253_402_300_799_000)

const ALWAYS: Window = { startsAt: new Date(0), endsAt: FOREVER }

/** The billing period of a subscription. */
export interface BillingPeriod {
  /** First moment of the period. */
  readonly startsAt: Date
  /** First moment after the period. */
  readonly endsAt: Date
}

/**
 * Returns the time span that use at the time `now` counts towards. Minutes, hours, days and months
 * begin in UTC. Without a subscription, or outside of its billing period, the interval `period` is
 * a calendar month.
 */
export function findWindow(
  interval: QuotaInterval | null,
  now: Date,
  period: BillingPeriod | null,
): Window {
  if (interval === null) return ALWAYS
  if (interval === 'period' && period && period.startsAt <= now && now < period.endsAt) {
    return { startsAt: period.startsAt, endsAt: period.endsAt }
  }
  if (interval === 'month' || interval === 'period') {
    const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()]
    return {
      startsAt: new Date(Date.UTC(year, month)),
      endsAt: new Date(Date.UTC(year, month + 1)),
    }
  }
  const length = LENGTHS[interval]
  const startsAt = Math.floor(now.getTime() / length) * length
  return { startsAt: new Date(startsAt), endsAt: new Date(startsAt + length) }
}
