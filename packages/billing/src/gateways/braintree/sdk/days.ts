/** A calendar day, `2026-01-31`: Braintree bills by days. They have no zone; ours is UTC. */
export type Day = string

const DAY_MS = 86_400_000

export function startOfDay(day: Day): Date {
  return new Date(`${day}T00:00:00Z`)
}

/** Days from Braintree are inclusive, our ends are not: access lasts through the whole last day. */
export function endOfDay(day: Day): Date {
  return new Date(startOfDay(day).getTime() + DAY_MS)
}

export function dayOf(instant: Date): Day {
  return instant.toISOString().slice(0, 10)
}

/** So many months on, by the day of the month that it is billed on; 31 is the last one. */
export function addMonths(day: Day, months: number, anchor: number): Day {
  const [year = 0, month = 1] = day.split('-').map(Number)
  const last = new Date(Date.UTC(year, month + months, 0)).getUTCDate()
  return dayOf(new Date(Date.UTC(year, month - 1 + months, Math.min(anchor, last))))
}

/** The first day of that number on or after a day; 31 is the last one of a month. */
export function nextDayOfMonth(day: Day, anchor: number): Day {
  const sameMonth = addMonths(day, 0, anchor)
  return sameMonth >= day ? sameMonth : addMonths(day, 1, anchor)
}

/** The day of the month that something is billed on which begins on that day: the 29th and 30th are the last one. */
export function anchorOf(day: Day): number {
  const number = Number(day.slice(8))
  return number > 28 ? 31 : number
}

/** So many days on. */
export function addDays(day: Day, days: number): Day {
  return dayOf(new Date(startOfDay(day).getTime() + days * DAY_MS))
}

/** Days from one day to another; 0 for the same day. */
export function daysBetween(from: Day, to: Day): number {
  return Math.round((startOfDay(to).getTime() - startOfDay(from).getTime()) / DAY_MS)
}

/** Months from the month of one day to that of another; at least one. */
export function monthsBetween(from: Day, to: Day): number {
  const [y1 = 0, m1 = 0] = from.split('-').map(Number)
  const [y2 = 0, m2 = 0] = to.split('-').map(Number)
  return Math.max(1, (y2 - y1) * 12 + m2 - m1)
}
