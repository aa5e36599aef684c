import type Stripe from 'stripe'
import { listPage } from '../api/lists.ts'
import { idOf, type Operations, op } from '../api/operation.ts'
import { render } from '../state/render.ts'
import { itemsOf } from '../subscriptions/subscription-swap.ts'
import { updateSubscription } from '../subscriptions/subscription-update.ts'
import { invalidRequest } from '../wire/errors.ts'

type Shared = Pick<
  Stripe.SubscriptionUpdateParams,
  'payment_behavior' | 'proration_behavior' | 'proration_date' | 'off_session'
>

/** Each is an update of the subscription with one item. */
export const subscriptionItems: Operations = {
  'SubscriptionItems.create': op<Stripe.SubscriptionItemCreateParams>((params, { work }) => {
    const subscription = work.require('subscription', params.subscription, 'subscription')
    const before = new Set(itemsOf(work, subscription).map((item) => item.id))
    const { subscription: _of, expand: _expand, ...rest } = params
    const { shared, item } = split(rest)
    updateSubscription(work, subscription, { ...shared, items: [item] })
    const created = itemsOf(work, subscription).find((each) => !before.has(each.id))
    if (!created) throw invalidRequest('The item awaits the payment of its invoice.')
    return render('subscription_item', created, work.tables)
  }),
  'SubscriptionItems.retrieve': op((_params, call) =>
    render(
      'subscription_item',
      call.work.require('subscription_item', idOf(call)),
      call.work.tables,
    ),
  ),
  'SubscriptionItems.update': op<Stripe.SubscriptionItemUpdateParams>((params, call) => {
    const { work } = call
    const row = work.require('subscription_item', idOf(call))
    const { expand: _expand, ...rest } = params
    const { shared, item } = split(rest)
    updateSubscription(work, work.require('subscription', row.subscription), {
      ...shared,
      items: [{ ...item, id: row.id }],
    })
    return render('subscription_item', row, work.tables)
  }),
  'SubscriptionItems.del': op<Stripe.SubscriptionItemDeleteParams>((params, call) => {
    const { work } = call
    const row = work.require('subscription_item', idOf(call))
    const { shared, item } = split(params)
    updateSubscription(work, work.require('subscription', row.subscription), {
      ...shared,
      items: [{ ...item, id: row.id, deleted: true }],
    })
    return { id: row.id, object: 'subscription_item', deleted: true }
  }),
  'SubscriptionItems.list': op<Stripe.SubscriptionItemListParams>((params, { work, path }) => {
    const subscription = work.require('subscription', params.subscription, 'subscription')
    return listPage(itemsOf(work, subscription), params, path, (row) =>
      render('subscription_item', row, work.tables),
    )
  }),
}

function split(params: object): { shared: Shared; item: Stripe.SubscriptionUpdateParams.Item } {
  const shared: Record<string, unknown> = {}
  const item: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(params)) {
    const target = [
      'payment_behavior',
      'proration_behavior',
      'proration_date',
      'off_session',
    ].includes(key)
      ? shared
      : item
    target[key] = value
  }
  return { shared: shared as Shared, item: item as Stripe.SubscriptionUpdateParams.Item }
}
