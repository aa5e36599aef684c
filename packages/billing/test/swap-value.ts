/**
 * What a swap should come to, worked out from plain dates and whole cents in exact fractions. It shares
 * nothing with the code under test and asks no provider.
 */
export interface PaidPeriod {
  /** The first day, `2026-01-15`. */
  readonly start: string
  readonly months: number
  /** What one period costs, in cents, with tax and without what a coupon takes off. */
  readonly worth: number
}

const DAY = 86_400_000

export function addMonths(day: string, months: number): string {
  const [year = 0, month = 0, date = 0] = day.split('-').map(Number)
  const lastDay = new Date(Date.UTC(year, month - 1 + months + 1, 0)).getUTCDate()
  return toDay(Date.UTC(year, month - 1 + months, Math.min(date, lastDay)))
}

export function addDays(day: string, days: number): string {
  return toDay(Date.parse(`${day}T00:00:00Z`) + days * DAY)
}

export function daysFrom(start: string, end: string): number {
  return (Date.parse(`${end}T00:00:00Z`) - Date.parse(`${start}T00:00:00Z`)) / DAY
}

/** The share of the period that is left on that day, the day itself among it. */
export function leftOf({ start, months, worth }: PaidPeriod, today: string): number {
  const end = addMonths(start, months)
  return round(BigInt(worth) * BigInt(daysFrom(today, end)), BigInt(daysFrom(start, end)))
}

/** A price with tax, whose percentage is given in hundredths: 1960 is 19.6 %. */
export function withTax(price: number, hundredths: number): number {
  return price + round(BigInt(price) * BigInt(hundredths), 10_000n)
}

/** What is taken from the card cycle by cycle, when credit pays first. */
export function chargesOf(cycles: readonly number[], credit: number): number[] {
  let balance = -credit
  return cycles.map((cycle) => {
    balance += cycle
    const charged = Math.max(0, balance)
    balance -= charged
    return charged
  })
}

/** To the nearest cent, half a cent up. */
function round(numerator: bigint, denominator: bigint): number {
  const doubled = 2n * numerator + denominator
  return Number((doubled - (doubled % (2n * denominator))) / (2n * denominator))
}

function toDay(time: number): string {
  return new Date(time).toISOString().slice(0, 10)
}
