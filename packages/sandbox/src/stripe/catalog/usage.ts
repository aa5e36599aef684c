import type { MeterEventRow, MeterRow, PriceRow, UsageRecordRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { parseFixedPoint, UNITS_PER_ONE } from '../wire/decimals.ts'

/** Owner of usage: meters count by customer, usage records by subscription item. */
interface UsageOwner {
  readonly customer: string
  readonly item: string
}

/**
 * Returns the usage of a metered price in a period, including the start of the period and excluding
 * its end.
 */
export function sumUsage(
  work: UnitOfWork,
  price: PriceRow,
  by: UsageOwner,
  period: { readonly start: number; readonly end: number },
): bigint {
  return hasNoMeter(price)
    ? recordedUsage(work, price, by.item, period)
    : meteredUsage(work, price, by.customer, period)
}

/** Whether a metered price has no meter, as was possible before API version 2025-03-31.basil. */
export function hasNoMeter({ recurring }: Pick<PriceRow, 'recurring'>): boolean {
  return recurring?.usage_type === 'metered' && recurring.meter === null
}

const WINDOWS: Readonly<Record<string, number>> = { hour: 3600, day: 86_400 }

function meteredUsage(
  work: UnitOfWork,
  price: PriceRow,
  customer: string,
  period: { readonly start: number; readonly end: number },
): bigint {
  const meter = work.find('billing.meter', price.recurring?.meter ?? '')
  if (!meter) return 0n
  // Negative events can exceed the usage, but they never create a credit.
  const used = aggregateMeterEvents(meter, listMeterEvents(work, meter, customer, period))
  return used < 0n ? 0n : used
}

/**
 * Returns a customer's meter events in a period, in the order in which they were received.
 * Cancelled events are left out.
 */
export function listMeterEvents(
  work: UnitOfWork,
  meter: MeterRow,
  customer: string,
  { start, end }: { readonly start: number; readonly end: number },
): MeterEventRow[] {
  return work
    .findBy('billing.meter_event', 'usage', `${meter.id} ${customer}`)
    .filter((event) => !event.$.cancelled && event.timestamp >= start && event.timestamp < end)
}

export function aggregateMeterEvents(meter: MeterRow, events: readonly MeterEventRow[]): bigint {
  const counted = lastPerWindow(meter, events)
  const { formula } = meter.default_aggregation
  if (formula === 'count') return BigInt(counted.length) * UNITS_PER_ONE
  const values = counted.map((event) => parseFixedPoint(event.$.value))
  if (formula === 'sum') return values.reduce((sum, value) => sum + value, 0n)
  let last: MeterEventRow | null = null
  for (const event of counted) if (!last || event.timestamp >= last.timestamp) last = event
  return last ? parseFixedPoint(last.$.value) : 0n
}

/**
 * Keeps the last event of each hour or day, for meters whose events report the total of the hour or
 * day so far.
 */
function lastPerWindow(meter: MeterRow, events: readonly MeterEventRow[]): MeterEventRow[] {
  const size = WINDOWS[meter.event_time_window ?? '']
  if (size === undefined) return [...events]
  const last = new Map<number, MeterEventRow>()
  for (const event of events) last.set(Math.floor(event.timestamp / size), event)
  return [...last.values()]
}

/**
 * Functions that compute the usage of a period from usage records, by the value of
 * `aggregate_usage`. The records are sorted, oldest first.
 */
export const AGGREGATIONS: Readonly<
  Record<string, (records: readonly UsageRecordRow[], ever: readonly UsageRecordRow[]) => number>
> = {
  last_during_period: (records) => records.at(-1)?.quantity ?? 0,
  last_ever: (_records, ever) => ever.at(-1)?.quantity ?? 0,
  max: (records) => Math.max(0, ...records.map(({ quantity }) => quantity)),
  sum: (records) => records.reduce((sum, { quantity }) => sum + quantity, 0),
}

function recordedUsage(
  work: UnitOfWork,
  price: PriceRow,
  item: string,
  { start, end }: { readonly start: number; readonly end: number },
): bigint {
  const ever = listUsageRecords(work, item).filter(({ timestamp }) => timestamp < end)
  const records = ever.filter(({ timestamp }) => timestamp >= start)
  const aggregate = AGGREGATIONS[price.$?.aggregateUsage ?? 'sum']
  return BigInt(aggregate?.(records, ever) ?? 0) * UNITS_PER_ONE
}

/** Returns a subscription item's usage records of all periods, sorted by timestamp. */
export function listUsageRecords(work: UnitOfWork, item: string): UsageRecordRow[] {
  return work
    .findBy('usage_record', 'subscription_item', item)
    .sort((a, b) => a.timestamp - b.timestamp)
}
