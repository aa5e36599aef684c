import type Stripe from 'stripe'
import { listPage } from '../api/lists.ts'
import type { StripeOperations } from '../api/operation.ts'
import { customOperation, retrieveOperation } from '../api/resource.ts'
import { renderRow } from '../state/render.ts'
import type { SubscriptionItemRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { listSubscriptionItems } from '../subscriptions/subscription-swap.ts'
import { updateSubscription } from '../subscriptions/subscription-update.ts'
import { createInvalidRequestFault } from '../wire/errors.ts'
import { pickSentFields } from '../wire/fields.ts'

type Params = Omit<Stripe.SubscriptionItemUpdateParams, 'expand'> & { readonly deleted?: true }

/**
 * Operations on subscription items. Each change is made as an update of the subscription with one
 * item.
 */
export const subscriptionItemOperations: StripeOperations = {
  'SubscriptionItems.create': customOperation('subscription_item', (params, { work }) => {
    const { subscription: id, expand: _expand, ...item } = params
    const subscription = work.require('subscription', id, 'subscription')
    const before = new Set(listSubscriptionItems(work, subscription).map((each) => each.id))
    updateSubscription(work, subscription, withItem(item))
    const created = listSubscriptionItems(work, subscription).find((each) => !before.has(each.id))
    if (!created) throw createInvalidRequestFault('The item awaits the payment of its invoice.')
    return created
  }),
  'SubscriptionItems.retrieve': retrieveOperation('subscription_item'),
  'SubscriptionItems.update': customOperation(
    'subscription_item',
    ({ expand: _expand, ...params }, call) => {
      const row = call.work.require('subscription_item', call.id)
      updateItem(call.work, row, params)
      return row
    },
  ),
  'SubscriptionItems.del': (params, { work, id }) => {
    const row = work.require('subscription_item', id)
    updateItem(work, row, { ...params, deleted: true })
    return { id, object: 'subscription_item', deleted: true }
  },
  'SubscriptionItems.list': (params, { work, path }) => {
    const subscription = work.require('subscription', params.subscription, 'subscription')
    return listPage(listSubscriptionItems(work, subscription), params, path, (row) =>
      renderRow('subscription_item', row, work.tables),
    )
  },
}

function updateItem(work: UnitOfWork, { id, subscription }: SubscriptionItemRow, params: Params) {
  updateSubscription(work, work.require('subscription', subscription), withItem({ ...params, id }))
}

/** Separates the parameters of the item from those of the whole subscription. */
function withItem({
  payment_behavior,
  proration_behavior,
  proration_date,
  off_session,
  ...item
}: Params & { readonly id?: string }): Stripe.SubscriptionUpdateParams {
  const shared = { payment_behavior, proration_behavior, proration_date, off_session }
  return {
    ...pickSentFields(shared, 'payment_behavior', 'proration_behavior'),
    ...pickSentFields(shared, 'proration_date', 'off_session'),
    items: [item],
  }
}
