import type Stripe from 'stripe'

/** A subscription with all its items, of which the object itself holds the first ones only, and with what is planned. */
export async function retrieve(stripe: Stripe, id: string): Promise<Stripe.Subscription> {
  return withAllItems(stripe, await stripe.subscriptions.retrieve(id, { expand: ['schedule'] }))
}

export async function withAllItems(
  stripe: Stripe,
  found: Stripe.Subscription,
): Promise<Stripe.Subscription> {
  if (!found.items.has_more) return found
  const data: Stripe.SubscriptionItem[] = []
  for await (const item of stripe.subscriptionItems.list({ subscription: found.id, limit: 100 })) {
    data.push(item)
  }
  return { ...found, items: { ...found.items, data, has_more: false } }
}
