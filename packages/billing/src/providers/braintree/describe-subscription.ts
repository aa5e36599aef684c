import type braintree from 'braintree'
import type { ProviderItem } from '../item.ts'
import type { EndReason, ProviderSubscription } from '../subscription.ts'
import { listApplicableAddOns } from './add-ons.ts'
import type { BraintreeContext } from './client.ts'
import { startOfDay } from './days.ts'
import { parseSubscriptionId } from './ids.ts'
import { computeCreditDuration, computePaidTimeEnd } from './paid-for.ts'
import { toMinorUnits } from './plan-credit.ts'

export function isInTrial(subscription: braintree.Subscription): boolean {
  return Boolean(subscription.trialPeriod) && subscription.currentBillingCycle === 0
}

const OVER: readonly string[] = ['Canceled', 'Expired']

/**
 * Whether Braintree will not change or charge the subscription any more. Access may still continue.
 */
export function hasBraintreeSubscriptionEnded({ status }: braintree.Subscription): boolean {
  return OVER.includes(status)
}

export function toProviderSubscription(
  context: BraintreeContext,
  subscription: braintree.Subscription,
): ProviderSubscription {
  const { trialPeriod, firstBillingDate, transactions } = subscription
  return {
    id: subscription.id,
    customerId: transactions?.[0]?.customer?.id ?? null,
    price: subscription.planId,
    status: subscription.status,
    isOver: hasBraintreeSubscriptionEnded(subscription),
    quantity: 1,
    trialEndsAt: trialPeriod && firstBillingDate ? startOfDay(firstBillingDate) : null,
    endsAt: computeAccessEnd(context, subscription),
    periodStartsAt: findPeriodStart(subscription),
    periodEndsAt: subscription.nextBillingDate ? startOfDay(subscription.nextBillingDate) : null,
    paidUntil: paidUntil(context, subscription),
    createdAt: new Date(subscription.createdAt),
    ...parseSubscriptionId(subscription.id),
    taxedPrice: toMinorUnits(subscription.price, context.currency),
    lastChargeAt: transactions?.[0] ? new Date(transactions[0].createdAt) : null,
    endReason: endReasonOf(subscription),
    items: itemsOf(subscription),
    raw: subscription,
  }
}

/** A trial is a period of its own, for which Braintree names no days. */
function findPeriodStart(subscription: braintree.Subscription): Date | null {
  const { billingPeriodStartDate, createdAt } = subscription
  if (billingPeriodStartDate) return startOfDay(billingPeriodStartDate)
  return isInTrial(subscription) ? new Date(createdAt) : null
}

/** Lists the plan, and the add-ons that apply in the current cycle or a later one. */
function itemsOf(subscription: braintree.Subscription): ProviderItem[] {
  const { id, planId } = subscription
  const of = { product: null, isMetered: false }
  return [
    { id, price: planId, quantity: 1, isMain: true, ...of },
    ...listApplicableAddOns(subscription).map((each) => ({
      // The add-on's own id is the same in every subscription.
      id: `${id}:${each.id}`,
      price: each.id,
      quantity: each.quantity ?? 1,
      isMain: false,
      ...of,
    })),
  ]
}

function paidUntil(context: BraintreeContext, subscription: braintree.Subscription): Date | null {
  const { status, firstBillingDate } = subscription
  if (isInTrial(subscription)) return firstBillingDate ? startOfDay(firstBillingDate) : null
  if (status === 'Past Due') return null
  return computePaidTimeEnd(subscription, computeCreditDuration(subscription, context))
}

/** Returns the end of the paid time, including credit. `null` if another charge will follow. */
function computeAccessEnd(
  context: BraintreeContext,
  subscription: braintree.Subscription,
): Date | null {
  const { status, neverExpires, numberOfBillingCycles, currentBillingCycle } = subscription
  if (status === 'Canceled') return trialEndOf(subscription) ?? cancelledAt(subscription)
  if (status === 'Expired') {
    const reach = computeCreditDuration(subscription, context, 0)
    return computePaidTimeEnd(subscription, reach) ?? cancelledAt(subscription)
  }
  if (neverExpires || numberOfBillingCycles == null || currentBillingCycle === 0) return null
  const cycles = Math.max(0, numberOfBillingCycles - currentBillingCycle)
  const reach = computeCreditDuration(subscription, context, cycles)
  return reach.cycles === cycles ? computePaidTimeEnd(subscription, reach) : null
}

/**
 * Returns the end of a trial during which `cancelAtPeriodEnd` was called. Subscriptions cancelled
 * this way have one cycle that never starts.
 */
function trialEndOf(subscription: braintree.Subscription): Date | null {
  const { neverExpires, numberOfBillingCycles, firstBillingDate } = subscription
  const isMarked = isInTrial(subscription) && !neverExpires && numberOfBillingCycles === 1
  return isMarked && firstBillingDate ? startOfDay(firstBillingDate) : null
}

function cancelledAt({ statusHistory, status, updatedAt }: braintree.Subscription): Date {
  const change = (statusHistory ?? []).find((entry) => entry.status === status) as
    | { readonly timestamp?: string | Date }
    | undefined
  return new Date(change?.timestamp ?? updatedAt)
}

/**
 * Braintree itself only cancels after the last failed charge; every other cancellation was
 * requested.
 */
function endReasonOf(subscription: braintree.Subscription): EndReason | null {
  const { status } = subscription
  if (status === 'Expired') return 'cancelled'
  if (status !== 'Canceled') return null
  const history = (subscription.statusHistory ?? []) as readonly {
    readonly status?: string
    readonly subscriptionSource?: string
  }[]
  const end = history.find((entry) => entry.status === status)
  return end?.subscriptionSource === 'recurring' ? 'payment_failed' : 'cancelled'
}
