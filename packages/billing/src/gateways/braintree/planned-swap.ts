import type braintree from 'braintree'
import { money, toDecimal } from '../../money.ts'
import type { Swap } from '../gateway.ts'
import type { BraintreeContext } from './client.ts'
import { dayOf, daysBetween } from './days.ts'
import { cyclesLeft, hasCyclesLeft, type Terms, unusedValue } from './plan-credit.ts'
import type { Plan } from './plans.ts'
import { inTrial, NEVER_EXPIRES, taxedPrice, trial } from './subscriptions.ts'

/** What a swap asks Braintree for. It is sent, or only forecast for a preview. */
export type PlannedSwap = PlannedChange | PlannedReplacement

export interface PlannedChange {
  readonly kind: 'change'
  readonly request: braintree.SubscriptionUpdateRequest & { readonly price: string }
  /** All is as wanted already. */
  readonly isThere: boolean
}

/** A new subscription: Braintree can change neither the frequency nor the trial of one. */
export interface PlannedReplacement {
  readonly kind: 'replacement'
  readonly request: Omit<braintree.SubscriptionCreateRequest, 'id'> & { readonly price: string }
}

export interface SwapTarget {
  readonly current: braintree.Subscription
  /** The plan it has, and the one it is to have. */
  readonly old: Plan
  readonly plan: Plan
  readonly wanted: Swap
  readonly now: Date
}

export function planSwap(context: BraintreeContext, target: SwapTarget): PlannedSwap {
  const { current, old, plan, wanted } = target
  const replaces = old.frequency !== plan.frequency || (wanted.skipTrial && inTrial(current))
  return replaces ? planReplacement(context, target) : planChange(target)
}

function planChange({ current, plan, wanted }: SwapTarget): PlannedChange {
  const price = taxedPrice(plan, wanted.tax)
  return {
    kind: 'change',
    isThere: current.planId === plan.id && current.price === price && current.neverExpires === true,
    request: {
      planId: plan.id,
      price,
      ...NEVER_EXPIRES,
      options: {
        prorateCharges: wanted.prorate,
        revertSubscriptionOnProrationFailure: true,
      },
    },
  }
}

function planReplacement(context: BraintreeContext, target: SwapTarget): PlannedReplacement {
  const { current, plan, wanted, now } = target
  return {
    kind: 'replacement',
    request: {
      planId: plan.id,
      price: taxedPrice(plan, wanted.tax),
      paymentMethodToken: current.paymentMethodToken,
      ...trial(wanted.skipTrial ? 0 : trialDaysLeft(current, now)),
      discounts: { add: discountsFor(context, target) },
    },
  }
}

/**
 * The whole credit in the new subscription's first cycle: what that does not use up stays as its
 * balance and pays later cycles, so nothing is lost by dividing. Coupons come along.
 */
function discountsFor(
  { planCredit }: BraintreeContext,
  { current, plan, wanted, now }: SwapTarget,
): braintree.DiscountAddRequest[] {
  const terms: Terms = { today: dayOf(now), currency: plan.currency, planCredit }
  const credit = wanted.prorate ? unusedValue(current, terms) : 0
  const coupons = carriedCoupons(planCredit, current, plan)
  if (credit === 0) return coupons
  const carrier = {
    inheritedFromId: planCredit,
    amount: toDecimal(money(credit, plan.currency)),
    numberOfBillingCycles: 1,
  }
  return [carrier, ...coupons]
}

function carriedCoupons(
  planCredit: string,
  { discounts = [] }: braintree.Subscription,
  plan: Plan,
): braintree.DiscountAddRequest[] {
  return discounts
    .filter(({ id }) => id !== planCredit && !plan.discounts.some((own) => own.id === id))
    .filter(hasCyclesLeft)
    .map((each) => ({
      inheritedFromId: each.id,
      amount: each.amount,
      quantity: each.quantity ?? 1,
      ...(each.neverExpires ? { neverExpires: true } : { numberOfBillingCycles: cyclesLeft(each) }),
    }))
}

function trialDaysLeft(current: braintree.Subscription, now: Date): number {
  if (!inTrial(current) || !current.firstBillingDate) return 0
  return Math.max(0, daysBetween(dayOf(now), current.firstBillingDate))
}
