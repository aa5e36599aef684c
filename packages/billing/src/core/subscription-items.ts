import type { SubscriptionRecord } from './storage/tables.ts'

/** An item (price) of a subscription, as stored in our database rows. */
export interface SubscriptionItem {
  /** The provider's id of the price, or at Braintree of the plan or add-on. */
  readonly price: string
  /** Number of units. `null` for metered prices. */
  readonly quantity: number | null
  /**
   * Whether this is the main price, which the subscription's `providerPlan` and `quantity`
   * describe.
   */
  readonly isMain: boolean
}

/** Lists the items of a subscription, the main one first. */
export function listSubscriptionItems({
  providerPlan,
  quantity,
  items,
}: SubscriptionRecord): SubscriptionItem[] {
  return [
    { price: providerPlan, quantity, isMain: true },
    ...items.map((item) => ({ price: item.price, quantity: item.quantity, isMain: false })),
  ]
}

export function listSubscriptionPrices(record: SubscriptionRecord): string[] {
  return [record.providerPlan, ...record.items.map(({ price }) => price)]
}
