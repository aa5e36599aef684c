import { NoSubscription } from '../../errors.ts'
import type { UpcomingInvoice } from '../../gateways/contract/upcoming-invoice.ts'
import type { SubscriptionRecord } from '../../storage/tables.ts'
import { SubscriptionBuilder } from '../../subscriptions/builder.ts'
import { pricesOf } from '../../subscriptions/features/items.ts'
import { Subscription } from '../../subscriptions/subscription.ts'
import { requireText } from '../../values/arguments.ts'
import { valid } from '../../values/subscription-state.ts'
import type { UserHaving, UserScope } from '../user-scope.ts'

export function newSubscription(user: UserScope, name: string, plan: string): SubscriptionBuilder {
  const choices = {
    name: requireText('subscription name', name),
    plan: requireText('plan', plan),
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

/** Of that subscription, or the first one that comes of any. */
export async function findUpcoming(
  user: UserHaving<'forecasts'>,
  name: string | undefined,
): Promise<UpcomingInvoice | null> {
  if (name !== undefined) return (await findSubscription(user, name))?.upcomingInvoice() ?? null
  const here = (await listSubscriptions(user)).filter(({ provider }) => provider === user.provider)
  let first: UpcomingInvoice | null = null
  for (const subscription of here) {
    const upcoming = await subscription.upcomingInvoice()
    if (upcoming && (first === null || upcoming.date < first.date)) first = upcoming
  }
  return first
}

/** Whether the newest of that name is valid and has one of the prices; without plans, any. */
export async function isSubscribed(
  user: UserScope,
  name: string,
  plans?: readonly string[],
): Promise<boolean> {
  const record = await user.context.subscriptions.findByName(user.owner, name)
  if (!record || !valid(record, user.now())) return false
  return plans === undefined || pricesOf(record).some((price) => plans.includes(price))
}

function toSubscription({ context, user }: UserScope, record: SubscriptionRecord): Subscription {
  return new Subscription(context, user.record, record)
}
