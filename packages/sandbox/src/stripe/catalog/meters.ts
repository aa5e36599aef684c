import type { MeterEventRow, MeterRow, PriceRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { ONE, toUnits } from '../wire/decimals.ts'

const WINDOWS: Readonly<Record<string, number>> = { hour: 3600, day: 86_400 }

export function meteredUsage(
  work: UnitOfWork,
  price: PriceRow,
  customer: string,
  period: { readonly start: number; readonly end: number },
): bigint {
  const meter = work.find('billing.meter', price.recurring?.meter ?? '')
  if (!meter) return 0n
  // More may be taken back than was used; nobody is owed for that.
  const used = aggregate(meter, eventsOf(work, meter, customer, period))
  return used < 0n ? 0n : used
}

/** Oldest first, as they were received, without those that were cancelled. */
export function eventsOf(
  work: UnitOfWork,
  meter: MeterRow,
  customer: string,
  { start, end }: { readonly start: number; readonly end: number },
): MeterEventRow[] {
  return work
    .findBy('billing.meter_event', 'usage', usageKey(meter.id, customer))
    .filter((event) => !event.$.cancelled && event.timestamp >= start && event.timestamp < end)
}

export function usageKey(meter: string, customer: string): string {
  return `${meter} ${customer}`
}

export function aggregate(meter: MeterRow, events: readonly MeterEventRow[]): bigint {
  const counted = lastOfWindows(meter, events)
  const { formula } = meter.default_aggregation
  if (formula === 'count') return BigInt(counted.length) * ONE
  const values = counted.map((event) => toUnits(event.$.value))
  if (formula === 'sum') return values.reduce((sum, value) => sum + value, 0n)
  let last: MeterEventRow | null = null
  for (const event of counted) if (!last || event.timestamp >= last.timestamp) last = event
  return last ? toUnits(last.$.value) : 0n
}

/** Where events are sums already, a later one of the same hour or day replaces the one before. */
function lastOfWindows(meter: MeterRow, events: readonly MeterEventRow[]): MeterEventRow[] {
  const size = WINDOWS[meter.event_time_window ?? '']
  if (size === undefined) return [...events]
  const last = new Map<number, MeterEventRow>()
  for (const event of events) last.set(Math.floor(event.timestamp / size), event)
  return [...last.values()]
}
