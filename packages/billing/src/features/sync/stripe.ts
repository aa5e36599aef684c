import type Stripe from 'stripe'
import { getReferencedId, type StripeContext, toSeconds } from '../../providers/stripe/client.ts'
import {
  toProviderSubscription,
  withAllItems,
} from '../../providers/stripe/describe-subscription.ts'
import { CUSTOMER_EXPAND_PARAM, describeCustomer } from '../customers/stripe.ts'
import { toDisputeStatus } from '../disputes/stripe.ts'
import type { AccountLists, AccountPage, ProviderChange } from './contract.ts'

const PAGE = 100

/**
 * Implements reading all customers and subscriptions of a Stripe account, newest first. Stripe does
 * not list objects that belong to a test clock.
 */
export function createStripeAccountLists(context: StripeContext): { readonly lists: AccountLists } {
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
          customerId: typeof charge === 'string' ? null : getReferencedId(charge.customer),
          status: toDisputeStatus(status),
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
          changes: data.flatMap((event) => toProviderChange(event) ?? []),
          next: has_more ? (data.at(-1)?.id ?? null) : null,
        }
      },
    },
  }
}

/** Prefix of a cursor into the subscriptions, which are listed after the customers. */
const SUBSCRIPTIONS = 'subscriptions:'

function from(after: string | null): { limit: number; starting_after?: string } {
  return { limit: PAGE, ...(after ? { starting_after: after } : {}) }
}

async function readCustomers({ stripe }: StripeContext, after: string): Promise<AccountPage> {
  const { data, has_more } = await stripe.customers.list({
    ...from(after),
    expand: CUSTOMER_EXPAND_PARAM.map((path) => `data.${path}`),
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
  for (const each of data)
    subscriptions.push(toProviderSubscription(await withAllItems(stripe, each)))
  const last = has_more ? data.at(-1)?.id : undefined
  return { customers: [], subscriptions, next: last ? `${SUBSCRIPTIONS}${last}` : null }
}

/** Stripe accepts at most twenty types. */
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

/** Reads a change from an event. `null` if it does not affect our database rows. */
function toProviderChange(event: Stripe.Event): ProviderChange | null {
  const object = event.data.object as { readonly object: string }
  switch (object.object) {
    case 'subscription':
      return toSubscriptionChange(object as Stripe.Subscription)
    case 'subscription_schedule': {
      const { customer, subscription, released_subscription } =
        object as Stripe.SubscriptionSchedule
      const subscriptionId = getReferencedId(subscription ?? released_subscription)
      return { customerId: getReferencedId(customer), subscriptionId }
    }
    case 'customer':
      return isOtherCard(event)
        ? { customerId: (object as Stripe.Customer).id, subscriptionId: null }
        : null
    default: {
      // A detached card no longer names its customer, but previous_attributes does.
      const { customer } = object as Stripe.PaymentMethod
      const before = event.data.previous_attributes as { customer?: string } | undefined
      return {
        customerId: getReferencedId(customer) ?? before?.customer ?? null,
        subscriptionId: null,
      }
    }
  }
}

/**
 * Whether the default card changed. Stripe updates a customer with every invoice, but only the
 * default card is in our database.
 */
function isOtherCard({ type, data }: Stripe.Event): boolean {
  if (type === 'customer.deleted') return true
  const before = Object.keys(data.previous_attributes ?? {})
  return before.includes('invoice_settings') || before.includes('default_source')
}

/**
 * Reads the subscription from an event. The event contains the subscription as it was at that time,
 * without its schedule and with only the first items.
 */
function toSubscriptionChange(object: Stripe.Subscription): ProviderChange {
  const change = { customerId: getReferencedId(object.customer), subscriptionId: object.id }
  const isWhole = object.schedule === null && object.items?.has_more === false
  if (!isWhole) return change
  try {
    return { ...change, subscription: toProviderSubscription(object) }
  } catch {
    // The event was written in an older version of the API.
    return change
  }
}
