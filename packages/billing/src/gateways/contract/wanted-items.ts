import type { WantedItem } from './item.ts'
import type { ProviderSubscription } from './subscription.ts'

/** The prices of a subscription as the provider has them, the main one first. */
export function wantedOf({ plan, quantity, items = [] }: ProviderSubscription): WantedItem[] {
  const main = items.find(({ isMain }) => isMain)
  return [
    { price: plan, quantity: main ? main.quantity : quantity },
    ...items.filter(({ isMain }) => !isMain).map(({ price, quantity }) => ({ price, quantity })),
  ]
}

/** Whether these are all its prices, in whatever order after the main one. */
export function hasItems(found: ProviderSubscription, wanted: readonly WantedItem[]): boolean {
  const present = wantedOf(found)
  return (
    present[0]?.price === wanted[0]?.price &&
    present.length === wanted.length &&
    present.every((item) =>
      wanted.some(({ price, quantity }) => price === item.price && quantity === item.quantity),
    )
  )
}
