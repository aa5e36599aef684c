import { describeInvoiceLine } from '../catalog/describe-price.ts'
import { isMeteredPriceRow, splitIntoParts } from '../catalog/tiers.ts'
import { listUsageRecords, sumUsage } from '../catalog/usage.ts'
import type { SubscriptionItemRow, SubscriptionRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { createInvalidRequestFault } from '../wire/errors.ts'
import { addPendingItem } from './proration.ts'

/** A completed period of a metered subscription item, whose usage is to be billed. */
export interface UsagePeriod {
  readonly item: SubscriptionItemRow
  readonly start: number
  readonly end: number
}

export function isMeteredItem(work: UnitOfWork, item: SubscriptionItemRow): boolean {
  return isMeteredPriceRow(work.require('price', item.price))
}

/**
 * Returns the completed periods of the given metered items, for which usage is to be billed. They
 * end with the item's period, or at `until` if that is earlier.
 */
export function listUsagePeriods(
  work: UnitOfWork,
  items: readonly SubscriptionItemRow[],
  until?: number,
): UsagePeriod[] {
  return items
    .filter((item) => isMeteredItem(work, item))
    .map((item) => ({
      item,
      start: findUsageStart(item),
      end: Math.min(until ?? item.current_period_end, item.current_period_end),
    }))
    .filter(({ start, end }) => start < end)
}

function findUsageStart(item: SubscriptionItemRow): number {
  return Math.max(item.current_period_start, item.$.usageFrom ?? 0)
}

/** Starts to count the usage of an item now, because its price was just added. */
export function countUsageFromNow(work: UnitOfWork, item: SubscriptionItemRow): void {
  if (isMeteredItem(work, item)) work.edit('subscription_item', item).$.usageFrom = work.now
  else delete work.edit('subscription_item', item).$.usageFrom
}

/**
 * Deletes the usage records of a subscription item that is removed.
 * @throws {StripeFault} If there are usage records and `clear_usage` is not set.
 */
export function clearUsage(work: UnitOfWork, item: SubscriptionItemRow, isMeant: boolean): void {
  const records = listUsageRecords(work, item.id)
  if (records.length > 0 && !isMeant) {
    throw createInvalidRequestFault(
      `Subscription item ${item.id} cannot be deleted because it has usage. To delete it with its usage, set \`clear_usage\` to \`true\`.`,
    )
  }
  for (const record of records) work.remove('usage_record', record)
}

/**
 * Bills the usage of an item up to now as pending invoice items, one per tier. Does nothing if
 * there was no usage.
 */
export function billUsage(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  item: SubscriptionItemRow,
): void {
  const price = work.require('price', item.price)
  const period = { start: findUsageStart(item), end: work.now }
  const used = sumUsage(work, price, { customer: subscription.customer, item: item.id }, period)
  if (used === 0n) return
  for (const part of splitIntoParts(price, used, subscription.currency)) {
    addPendingItem(work, subscription, item, {
      amount: part.amount,
      description: describeInvoiceLine(work, price, part, subscription.currency),
      discountable: true,
      discounts: [...item.discounts],
      period: { ...period },
      proration: false,
      quantity: part.quantity,
      unitAmount: part.unitAmount,
    })
  }
}
