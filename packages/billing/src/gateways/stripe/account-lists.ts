import type Stripe from 'stripe'
import type { AccountLists, AccountPage, ProviderChange } from '../contract/parts/account-lists.ts'
import { CUSTOMER_EXPAND, describeCustomer } from './payments/customers.ts'
import { statusOfDispute } from './payments/disputes.ts'
import { idOf, type StripeContext, toSeconds } from './sdk/client.ts'
import { describe } from './subscriptions/describe.ts'
import { withAllItems } from './subscriptions/retrieve.ts'

const PAGE = 100

/** Stripe lists everything of an account, newest first, except what belongs to a test clock. */
export function stripeAccountLists(context: StripeContext): { readonly lists: AccountLists } {
  const { stripe } = context
  return {
    lists: {
      readPage: (after) =>
        after?.startsWith(SUBSCRIPTIONS)
          ? readSubscriptions(context, after.slice(SUBSCRIPTIONS.length))
          : readCustomers(context, after ?? ''),
      async readDisputes(after) {
        const { data, has_more } = await stripe.disputes.list({
          ...from(after),
          expand: ['data.charge'],
        })
        const disputes = data.map(({ id, charge, status }) => ({
          id,
          customerId: typeof charge === 'string' ? null : idOf(charge.customer),
          status: statusOfDispute(status),
        }))
        return { disputes, next: has_more ? (data.at(-1)?.id ?? null) : null }
      },
      changesKeptDays: 30,
      async readChanges(since, after) {
        const { data, has_more } = await stripe.events.list({
          ...from(after),
          types: CHANGES,
          created: { gte: toSeconds(since) },
        })
        return {
          changes: data.flatMap((event) => changeOf(event) ?? []),
          next: has_more ? (data.at(-1)?.id ?? null) : null,
        }
      },
    },
  }
}

/** Customers first. A page of them is continued by the id alone. */
const SUBSCRIPTIONS = 'subscriptions:'

function from(after: string | null): { limit: number; starting_after?: string } {
  return { limit: PAGE, ...(after ? { starting_after: after } : {}) }
}

async function readCustomers({ stripe }: StripeContext, after: string): Promise<AccountPage> {
  const { data, has_more } = await stripe.customers.list({
    ...from(after),
    expand: CUSTOMER_EXPAND.map((path) => `data.${path}`),
  })
  const last = has_more ? data.at(-1)?.id : undefined
  return {
    customers: data.map(describeCustomer),
    subscriptions: [],
    next: last ?? SUBSCRIPTIONS,
  }
}

async function readSubscriptions({ stripe }: StripeContext, after: string): Promise<AccountPage> {
  const { data, has_more } = await stripe.subscriptions.list({
    ...from(after),
    status: 'all',
    expand: ['data.schedule'],
  })
  const subscriptions = []
  for (const each of data) subscriptions.push(describe(await withAllItems(stripe, each)))
  const last = has_more ? data.at(-1)?.id : undefined
  return { customers: [], subscriptions, next: last ? `${SUBSCRIPTIONS}${last}` : null }
}

/** Stripe takes up to twenty. */
const CHANGES = [
  'customer.subscription.created',
  'customer.subscription.updated',
  'customer.subscription.deleted',
  'customer.subscription.paused',
  'customer.subscription.resumed',
  'customer.subscription.pending_update_applied',
  'customer.subscription.pending_update_expired',
  'subscription_schedule.created',
  'subscription_schedule.updated',
  'subscription_schedule.released',
  'subscription_schedule.canceled',
  'subscription_schedule.aborted',
  'customer.updated',
  'customer.deleted',
  'payment_method.updated',
  'payment_method.automatically_updated',
  'payment_method.detached',
]

/** Null for what no row of ours shows. */
function changeOf(event: Stripe.Event): ProviderChange | null {
  const object = event.data.object as { readonly object: string }
  switch (object.object) {
    case 'subscription':
      return ofSubscription(object as Stripe.Subscription)
    case 'subscription_schedule': {
      const { customer, subscription, released_subscription } =
        object as Stripe.SubscriptionSchedule
      const subscriptionId = idOf(subscription ?? released_subscription)
      return { customerId: idOf(customer), subscriptionId }
    }
    case 'customer':
      return isOtherCard(event)
        ? { customerId: (object as Stripe.Customer).id, subscriptionId: null }
        : null
    default: {
      // A detached card no longer says whose it was; what it said before does.
      const { customer } = object as Stripe.PaymentMethod
      const before = event.data.previous_attributes as { customer?: string } | undefined
      return { customerId: idOf(customer) ?? before?.customer ?? null, subscriptionId: null }
    }
  }
}

/** A customer changes with every bill. Only another default card is in our rows. */
function isOtherCard({ type, data }: Stripe.Event): boolean {
  if (type === 'customer.deleted') return true
  const before = Object.keys(data.previous_attributes ?? {})
  return before.includes('invoice_settings') || before.includes('default_source')
}

/** An event holds the subscription as it was then, without its schedule and all but the first items. */
function ofSubscription(object: Stripe.Subscription): ProviderChange {
  const change = { customerId: idOf(object.customer), subscriptionId: object.id }
  const isWhole = object.schedule === null && object.items?.has_more === false
  if (!isWhole) return change
  try {
    return { ...change, subscription: describe(object) }
  } catch {
    // It is written in an older version of the API.
    return change
  }
}
