import type { PriceRow, UsageRecordRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { ONE } from '../wire/decimals.ts'

/** How usage that is recorded adds up; the records are of one period, oldest first. */
export const AGGREGATIONS: Readonly<
  Record<string, (records: readonly UsageRecordRow[], ever: readonly UsageRecordRow[]) => number>
> = {
  last_during_period: (records) => records.at(-1)?.quantity ?? 0,
  last_ever: (_records, ever) => ever.at(-1)?.quantity ?? 0,
  max: (records) => Math.max(0, ...records.map(({ quantity }) => quantity)),
  sum: (records) => records.reduce((sum, { quantity }) => sum + quantity, 0),
}

export function recordedUsage(
  work: UnitOfWork,
  price: PriceRow,
  item: string,
  { start, end }: { readonly start: number; readonly end: number },
): bigint {
  const ever = recordsOf(work, item).filter(({ timestamp }) => timestamp < end)
  const records = ever.filter(({ timestamp }) => timestamp >= start)
  const aggregate = AGGREGATIONS[price.$?.aggregateUsage ?? 'sum']
  return BigInt(aggregate?.(records, ever) ?? 0) * ONE
}

/** Of all periods, by the time that they are of. */
export function recordsOf(work: UnitOfWork, item: string): UsageRecordRow[] {
  return work
    .findBy('usage_record', 'subscription_item', item)
    .sort((a, b) => a.timestamp - b.timestamp)
}
