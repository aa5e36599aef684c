import type { PriceRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { meteredUsage } from './meters.ts'
import { recordedUsage } from './usage-records.ts'

/** Meters count for a customer, usage records for an item of a subscription. */
export interface User {
  readonly customer: string
  readonly item: string
}

/** What was used of a metered price within a period, from its start until just before its end. */
export function usageOf(
  work: UnitOfWork,
  price: PriceRow,
  by: User,
  period: { readonly start: number; readonly end: number },
): bigint {
  return hasNoMeter(price)
    ? recordedUsage(work, price, by.item, period)
    : meteredUsage(work, price, by.customer, period)
}

/** A metered price of the time before meters. */
export function hasNoMeter({ recurring }: Pick<PriceRow, 'recurring'>): boolean {
  return recurring?.usage_type === 'metered' && recurring.meter === null
}
