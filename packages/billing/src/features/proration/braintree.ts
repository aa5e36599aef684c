import type braintree from 'braintree'
import { proportion } from '../../core/values/money.ts'
import { type AddOnChanges, afterChanges } from '../../providers/braintree/add-ons.ts'
import { inTrial } from '../../providers/braintree/describe-subscription.ts'
import {
  amountOf,
  appliesInCycle,
  daysOf,
  type Modification,
  type Terms,
  toMinor,
} from '../../providers/braintree/plan-credit.ts'

/** Fields of a request that change the price of a billing cycle. */
export type PriceChanges = AddOnChanges &
  Pick<braintree.SubscriptionRequest, 'discounts'> & { readonly price: string }

/**
 * Returns what Braintree charges for the rest of the running cycle if it prorates a change.
 * Negative for credit.
 */
export function proratedChange(
  current: braintree.Subscription,
  request: PriceChanges,
  terms: Terms,
): number {
  const { all, left } = daysOf(current, terms.today)
  if (all === 0 || inTrial(current)) return 0
  const discountsAfter = withUpdates(current.discounts ?? [], request)
  const addOnsAfter = afterChanges(current.addOns ?? [], request)
  const sum = (modifications: readonly Modification[]) =>
    modifications.reduce((total, each) => total + amountOf(each, terms), 0)
  const counted = (modifications: readonly Modification[] = []) =>
    sum(modifications.filter((each) => appliesInCycle(each, current.currentBillingCycle)))
  const price = toMinor(request.price, terms.currency) - toMinor(current.price, terms.currency)
  // Braintree charges new add-ons in the running cycle already.
  const addOns = counted(addOnsAfter.kept) + sum(addOnsAfter.added) - counted(current.addOns)
  const discounts = counted(discountsAfter) - counted(current.discounts)
  return proportion(price + addOns - discounts, left, all)
}

/** Returns the discounts after the request. */
export function withUpdates(
  discounts: readonly Modification[],
  request: Pick<braintree.SubscriptionRequest, 'discounts'>,
): Modification[] {
  const updates = request.discounts?.update ?? []
  return discounts.map((each) => ({
    ...each,
    ...updates.find(({ existingId }) => existingId === each.id),
  }))
}
