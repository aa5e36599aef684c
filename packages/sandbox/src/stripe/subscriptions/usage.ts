import type Stripe from 'stripe'
import { describePart } from '../catalog/describe-price.ts'
import { isMetered, partsOf } from '../catalog/tiers.ts'
import { usageOf } from '../catalog/usage.ts'
import { recordsOf } from '../catalog/usage-records.ts'
import type { SubscriptionItemRow, SubscriptionRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { fromUnits } from '../wire/decimals.ts'
import { invalidRequest } from '../wire/errors.ts'
import { nulls } from '../wire/wire.ts'

/** A period of a metered item that is over, and is billed now. */
export interface UsagePeriod {
  readonly item: SubscriptionItemRow
  readonly start: number
  readonly end: number
}

export function isMeteredItem(work: UnitOfWork, item: SubscriptionItemRow): boolean {
  return isMetered(work.require('price', item.price))
}

/** What of the given items' periods is to be billed by usage, until their end or until a moment before it. */
export function usagePeriods(
  work: UnitOfWork,
  items: readonly SubscriptionItemRow[],
  until?: number,
): UsagePeriod[] {
  return items
    .filter((item) => isMeteredItem(work, item))
    .map((item) => ({
      item,
      start: countedFrom(item),
      end: Math.min(until ?? item.current_period_end, item.current_period_end),
    }))
    .filter(({ start, end }) => start < end)
}

function countedFrom(item: SubscriptionItemRow): number {
  return Math.max(item.current_period_start, item.$.usageFrom ?? 0)
}

/** The price came now: what was used before is not its business. */
export function countFromNow(work: UnitOfWork, item: SubscriptionItemRow): void {
  if (isMeteredItem(work, item)) work.edit('subscription_item', item).$.usageFrom = work.now
  else delete work.edit('subscription_item', item).$.usageFrom
}

/** Usage that is recorded at an item goes with it, which has to be said. */
export function clearUsage(work: UnitOfWork, item: SubscriptionItemRow, isMeant: boolean): void {
  const records = recordsOf(work, item.id)
  if (records.length > 0 && !isMeant) {
    throw invalidRequest(
      `Subscription item ${item.id} cannot be deleted because it has usage. To delete it with its usage, set \`clear_usage\` to \`true\`.`,
    )
  }
  for (const record of records) work.remove('usage_record', record)
}

/** Bills what was used until now as pending invoice items, one for each tier. Nothing used, nothing billed. */
export function billUsage(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  item: SubscriptionItemRow,
): void {
  const price = work.require('price', item.price)
  const period = { start: countedFrom(item), end: work.now }
  const used = usageOf(work, price, { customer: subscription.customer, item: item.id }, period)
  if (used === 0n) return
  for (const part of partsOf(price, used, subscription.currency)) {
    work.insert(
      'invoiceitem',
      {
        ...nulls<Stripe.InvoiceItem>('invoiceitem'),
        id: work.newId('ii_1'),
        object: 'invoiceitem',
        amount: part.amount,
        currency: subscription.currency,
        customer: subscription.customer,
        date: work.now,
        description: describePart(work, price, part, subscription.currency),
        discountable: true,
        discounts: [...item.discounts],
        livemode: false,
        metadata: {},
        net_amount: part.amount,
        parent: {
          subscription_details: { subscription: subscription.id, subscription_item: item.id },
          type: 'subscription_details',
        },
        period: { ...period },
        pricing: {
          price_details: { price: price.id, product: price.product },
          type: 'price_details',
          unit_amount_decimal: part.unitAmount,
        },
        proration: false,
        proration_details: { credited_items: null, discount_amounts: [] },
        quantity: Math.trunc(Number(fromUnits(part.quantity))),
        quantity_decimal: fromUnits(part.quantity),
        tax_rates: item.tax_rates.length > 0 ? [...item.tax_rates] : null,
        test_clock: subscription.test_clock,
        $: {
          price: price.id,
          product: price.product,
          subscription: subscription.id,
          item: item.id,
        },
      },
      'invoiceitem.created',
    )
  }
}
