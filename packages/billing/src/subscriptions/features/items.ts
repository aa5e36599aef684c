import type { SubscriptionRecord } from '../../storage/tables.ts'
import type { SubscriptionScope } from '../subscription-scope.ts'

/** One price of a subscription, as our rows have it. */
export interface SubscriptionItem {
  /** The provider's id: of the plan, of another price, or of an add-on (Braintree). */
  readonly price: string
  /** Null where usage is counted instead. */
  readonly quantity: number | null
  /** The one that `providerPlan` and `quantity` of the subscription are about. */
  readonly isMain: boolean
}

/** The main one first. */
export function itemsOf({ providerPlan, quantity, items }: SubscriptionRecord): SubscriptionItem[] {
  return [
    { price: providerPlan, quantity, isMain: true },
    ...items.map((item) => ({ price: item.price, quantity: item.quantity, isMain: false })),
  ]
}

export function pricesOf(record: SubscriptionRecord): string[] {
  return [record.providerPlan, ...record.items.map(({ price }) => price)]
}

/** Our rows know the products of the other prices only. */
export async function hasProduct(
  subscription: SubscriptionScope,
  product: string,
): Promise<boolean> {
  if (subscription.record.items.some((item) => item.product === product)) return true
  const found = await subscription.find()
  return found?.items?.some((item) => item.product === product) ?? false
}
