import type { RequestedItem } from './item.ts'
import type { ProviderSubscription } from './subscription.ts'

/** Lists the prices of a provider's subscription, the main one first. */
export function toRequestedItems({
  price: mainPrice,
  quantity,
  items = [],
}: ProviderSubscription): RequestedItem[] {
  const main = items.find(({ isMain }) => isMain)
  return [
    { price: mainPrice, quantity: main ? main.quantity : quantity },
    ...items.filter(({ isMain }) => !isMain).map(({ price, quantity }) => ({ price, quantity })),
  ]
}

/**
 * Whether a subscription has exactly these prices. The order after the main one does not matter.
 */
export function hasExactItems(
  found: ProviderSubscription,
  requestedItems: readonly RequestedItem[],
): boolean {
  const present = toRequestedItems(found)
  return (
    present[0]?.price === requestedItems[0]?.price &&
    present.length === requestedItems.length &&
    present.every((item) =>
      requestedItems.some(
        ({ price, quantity }) => price === item.price && quantity === item.quantity,
      ),
    )
  )
}
