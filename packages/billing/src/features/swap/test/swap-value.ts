/**
 * A paid period. The expected result of a swap is calculated here from plain dates and whole cents
 * in exact fractions, independently of the tested code and of any provider.
 */
export interface PaidPeriod {
  /** The first day, such as `2026-01-15`. */
  readonly start: string
  readonly months: number
  /** The price of one period in cents, including tax and less coupons. */
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

/** Returns the value of the remaining days, including this day. */
export function leftOf({ start, months, worth }: PaidPeriod, today: string): number {
  const end = addMonths(start, months)
  return round(BigInt(worth) * BigInt(daysFrom(today, end)), BigInt(daysFrom(start, end)))
}

/** Adds tax to a price. The percentage is in hundredths: 1960 is 19.6 %. */
export function withTax(price: number, hundredths: number): number {
  return price + round(BigInt(price) * BigInt(hundredths), 10_000n)
}

/** Returns what each cycle charges to the card when credit is used first. */
export function chargesOf(cycles: readonly number[], credit: number): number[] {
  let balance = -credit
  return cycles.map((cycle) => {
    balance += cycle
    const charged = Math.max(0, balance)
    balance -= charged
    return charged
  })
}

/** Rounds to the nearest cent, half a cent up. */
function round(numerator: bigint, denominator: bigint): number {
  const doubled = 2n * numerator + denominator
  return Number((doubled - (doubled % (2n * denominator))) / (2n * denominator))
}

function toDay(time: number): string {
  return new Date(time).toISOString().slice(0, 10)
}
