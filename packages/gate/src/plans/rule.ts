/** How often a quota starts over. `period` is the billing period of the subscription. */
export type QuotaInterval = 'minute' | 'hour' | 'day' | 'month' | 'period'

/** A parsed quota, such as 1,000 a month. */
export interface Quota {
  readonly amount: number
  /** How often the quota starts over. `null` if it never does, as for a gauge. */
  readonly interval: QuotaInterval | null
}

/** A parsed rate, such as 5 a second. */
export interface Rate {
  readonly amount: number
  readonly milliseconds: number
}

const QUOTA_INTERVALS: readonly string[] = ['minute', 'hour', 'day', 'month', 'period']
const RATE_INTERVALS = new Map([
  ['second', 1000],
  ['minute', 60_000],
  ['hour', 3_600_000],
])

/**
 * Parses a quota, such as `1000/month`, or `25` for a gauge.
 * @throws TypeError with the expected form
 */
export function parseQuota(what: string, text: string | number, isGauge: boolean): Quota {
  const [count = '', interval, ...more] = String(text).split('/')
  const amount = readCount(count)
  const isKnown = interval !== undefined && QUOTA_INTERVALS.includes(interval)
  if (amount === null || more.length > 0 || (isGauge ? interval !== undefined : !isKnown)) {
    throw new TypeError(
      isGauge
        ? `${what}: ${JSON.stringify(text)} is not a quota of a gauge. Give a whole number, such as 25.`
        : `${what}: ${JSON.stringify(text)} is not a quota. Give a whole number and one of ${QUOTA_INTERVALS.join(', ')}, such as '1000/month'.`,
    )
  }
  return { amount, interval: isGauge ? null : (interval as QuotaInterval) }
}

/**
 * Parses a rate, such as `5/second`.
 * @throws TypeError with the expected form
 */
export function parseRate(what: string, text: string): Rate {
  const [count = '', interval = '', ...more] = text.split('/')
  const amount = readCount(count)
  const milliseconds = RATE_INTERVALS.get(interval)
  if (amount === null || amount === 0 || milliseconds === undefined || more.length > 0) {
    throw new TypeError(
      `${what}: ${JSON.stringify(text)} is not a rate. Give a whole number from 1 and one of ${[...RATE_INTERVALS.keys()].join(', ')}, such as '5/second'.`,
    )
  }
  return { amount, milliseconds }
}

/** Reads a whole number, in which `_` may separate digits as in code. */
function readCount(text: string): number | null {
  if (!/^\d{1,3}(_?\d{1,3}){0,5}$/.test(text)) return null
  const amount = Number(text.replaceAll('_', ''))
  return Number.isSafeInteger(amount) ? amount : null
}
