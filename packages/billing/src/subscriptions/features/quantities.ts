import { requirePart } from '../../gateways/contract/parts.ts'
import { requireCount } from '../../values/arguments.ts'
import type { SubscriptionHaving } from '../subscription-scope.ts'

type Countable = SubscriptionHaving<'quantities'>

export async function addQuantity(subscription: Countable, count: number): Promise<void> {
  requireCount(count)
  await change(subscription, (quantity) => quantity + count)
}

export async function takeQuantity(subscription: Countable, count: number): Promise<void> {
  requireCount(count)
  await change(subscription, (quantity) => Math.max(1, quantity - count))
}

export async function setQuantity(subscription: Countable, quantity: number): Promise<void> {
  requireCount(quantity)
  await change(subscription, () => quantity)
}

/** Sets what `next` makes of the quantity that the provider has. */
async function change(subscription: Countable, next: (quantity: number) => number): Promise<void> {
  subscription.requireRunning()
  await subscription.change(({ found, ask }) => {
    const quantity = requireCount(next(found.quantity))
    return ask((gateway) => requirePart(gateway, 'quantities').set(found.id, quantity))
  })
}
