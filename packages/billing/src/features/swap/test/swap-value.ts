/**
 * A paid billing period, from which tests calculate the expected cost of a swap. They use plain
 * dates and whole cents, independently of the tested code and of any provider.
 */
export interface PaidPeriod {
  /** The first day, such as `2026-01-15`. */
  readonly start: string
  readonly months: number
  /** The price of one period in cents, including tax, after discounts. */
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

export function countDaysFrom(start: string, end: string): number {
  return (Date.parse(`${end}T00:00:00Z`) - Date.parse(`${start}T00:00:00Z`)) / DAY
}

/** Returns the value in cents of the period's remaining days, including `today`. */
export function computeRemainingValue({ start, months, worth }: PaidPeriod, today: string): number {
  const end = addMonths(start, months)
  return round(BigInt(worth) * BigInt(countDaysFrom(today, end)), BigInt(countDaysFrom(start, end)))
}

/** Adds tax to a price in cents. The tax is in hundredths of a percent: 1960 is 19.6 %. */
export function withTax(price: number, hundredths: number): number {
  return price + round(BigInt(price) * BigInt(hundredths), 10_000n)
}

/**
 * Returns the amount that each billing cycle charges to the card if credit is used first. `cycles`
 * has the price of each cycle in cents.
 */
export function computeChargesAfterCredit(cycles: readonly number[], credit: number): number[] {
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
