import type braintree from 'braintree'
import { calculateProportion } from '../../core/values/money.ts'
import { type AddOnChanges, applyAddOnChanges } from '../../providers/braintree/add-ons.ts'
import { isInTrial } from '../../providers/braintree/describe-subscription.ts'
import {
  type AddOnOrDiscount,
  appliesInCycle,
  type CreditTerms,
  countPeriodDays,
  getModificationAmount,
  toMinorUnits,
} from '../../providers/braintree/plan-credit.ts'

/**
 * Fields of a Braintree request that change the price of a billing cycle: price, add-ons and
 * discounts.
 */
export type PriceChangeFields = AddOnChanges &
  Pick<braintree.SubscriptionRequest, 'discounts'> & { readonly price: string }

/**
 * Calculates the amount that Braintree charges for the rest of the current billing cycle if it
 * prorates this change. Negative for credit.
 */
export function computeProratedCharge(
  current: braintree.Subscription,
  request: PriceChangeFields,
  terms: CreditTerms,
): number {
  const { all, left } = countPeriodDays(current, terms.today)
  if (all === 0 || isInTrial(current)) return 0
  const discountsAfter = withDiscountUpdates(current.discounts ?? [], request)
  const addOnsAfter = applyAddOnChanges(current.addOns ?? [], request)
  const sum = (modifications: readonly AddOnOrDiscount[]) =>
    modifications.reduce((total, each) => total + getModificationAmount(each, terms), 0)
  const counted = (modifications: readonly AddOnOrDiscount[] = []) =>
    sum(modifications.filter((each) => appliesInCycle(each, current.currentBillingCycle)))
  const price =
    toMinorUnits(request.price, terms.currency) - toMinorUnits(current.price, terms.currency)
  // Braintree charges new add-ons in the running cycle already.
  const addOns = counted(addOnsAfter.kept) + sum(addOnsAfter.added) - counted(current.addOns)
  const discounts = counted(discountsAfter) - counted(current.discounts)
  return calculateProportion(price + addOns - discounts, left, all)
}

/** Returns the discounts of a subscription after the request is applied. */
export function withDiscountUpdates(
  discounts: readonly AddOnOrDiscount[],
  request: Pick<braintree.SubscriptionRequest, 'discounts'>,
): AddOnOrDiscount[] {
  const updates = request.discounts?.update ?? []
  return discounts.map((each) => ({
    ...each,
    ...updates.find(({ existingId }) => existingId === each.id),
  }))
}
