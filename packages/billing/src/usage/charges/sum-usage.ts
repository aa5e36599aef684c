import type { UsageFilter, UsageSummary } from '../../gateways/contract/parts/money/usage.ts'
import type { ChargedUsageRepository } from '../../storage/queues/charged-usage.ts'
import { written } from '../../values/decimal.ts'

const STEP = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const

/** Adds up what was used with these subscriptions, charged or not: whole minutes, or each hour or day. */
export async function sumUsage(
  usage: Pick<ChargedUsageRepository, 'listUsed'>,
  subscriptions: readonly number[],
  { meter, from, to, by }: Omit<UsageFilter, 'customerId'>,
): Promise<UsageSummary[]> {
  const step = STEP[by ?? 'minute']
  const start = Math.floor(from.getTime() / step) * step
  const end = Math.ceil(to.getTime() / step) * step
  const size = by === null ? end - start : step
  const range = { from: new Date(start), to: new Date(end) }
  const used = await usage.listUsed(subscriptions, meter, range)
  const sums = Array.from({ length: (end - start) / size }, () => 0n)
  for (const { at, value } of used) {
    const index = Math.floor((at.getTime() - start) / size)
    sums[index] = (sums[index] ?? 0n) + value
  }
  return sums.map((sum, index) => ({
    from: new Date(start + index * size),
    to: new Date(start + (index + 1) * size),
    value: written(sum),
  }))
}
