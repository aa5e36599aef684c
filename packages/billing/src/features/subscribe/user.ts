import { NoSubscription } from '../../core/errors/errors.ts'
import type { SubscriptionRecord } from '../../core/storage/tables.ts'
import { listSubscriptionPrices } from '../../core/subscription-items.ts'
import type { UserScope } from '../../core/user-scope.ts'
import { requireText } from '../../core/values/arguments.ts'
import { isSubscriptionValid } from '../../core/values/subscription-state.ts'
import { Subscription } from '../../subscription.ts'
import { SubscriptionBuilder } from './builder.ts'

export function newSubscription(user: UserScope, name: string, plan: string): SubscriptionBuilder {
  const choices = {
    name: requireText('subscription name', name),
    price: requireText('plan', plan),
    provider: user.provider,
    coupon: null,
    trialDays: null,
    quantity: 1,
  }
  return new SubscriptionBuilder(user.context, user.user, choices)
}

export async function findSubscription(
  user: UserScope,
  name: string,
): Promise<Subscription | null> {
  const record = await user.context.subscriptions.findByName(user.owner, name)
  return record ? toSubscription(user, record) : null
}

export async function requireSubscription(user: UserScope, name: string): Promise<Subscription> {
  const found = await findSubscription(user, name)
  if (!found) throw new NoSubscription(`The ${user.owner.type} has no subscription '${name}'`)
  return found
}

export async function listSubscriptions(user: UserScope): Promise<Subscription[]> {
  const records = await user.context.subscriptions.listByOwner(user.owner)
  return records.map((record) => toSubscription(user, record))
}

/**
 * Whether the user's newest subscription with this name is valid and has one of the prices `plans`.
 * Without `plans`, any price counts.
 */
export async function isUserSubscribed(
  user: UserScope,
  name: string,
  plans?: readonly string[],
): Promise<boolean> {
  const record = await user.context.subscriptions.findByName(user.owner, name)
  if (!record || !isSubscriptionValid(record, user.now())) return false
  return (
    plans === undefined || listSubscriptionPrices(record).some((price) => plans.includes(price))
  )
}

function toSubscription({ context, user }: UserScope, record: SubscriptionRecord): Subscription {
  return new Subscription(context, user.record, record)
}
