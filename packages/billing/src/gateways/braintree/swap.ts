import type braintree from 'braintree'
import { fromDecimal, type Money, money, proportion, toDecimal } from '../../money.ts'
import { addTax } from '../../tax.ts'
import type { Gateway, Swap, SwapPreview } from '../gateway.ts'
import { type BraintreeContext, idOfOperation } from './client.ts'
import { dayOf, daysBetween } from './days.ts'
import { requireSuccess } from './errors.ts'
import { cyclesLeft, daysOf, type Terms, unusedValue } from './plan-credit.ts'
import { type Plan, requirePlan } from './plans.ts'
import { createOnce, inTrial, NEVER_EXPIRES, taxedPrice, trial } from './subscriptions.ts'

type Swaps = Pick<Gateway, 'needsReplacement' | 'swap' | 'replace' | 'previewSwap'>

/** Braintree can change neither the frequency nor the trial of a subscription: those need a new one. */
export function braintreeSwaps(context: BraintreeContext): Swaps {
  const { gateway } = context

  async function read(id: string, wanted: Swap) {
    const current = await gateway.subscription.find(id)
    const plan = await requirePlan(context, wanted.plan)
    const old = current.planId === plan.id ? plan : await requirePlan(context, current.planId)
    const replaces = old.frequency !== plan.frequency || (wanted.skipTrial && inTrial(current))
    return { current, plan, replaces }
  }

  return {
    needsReplacement: async (id, wanted) => (await read(id, wanted)).replaces,

    async swap(id, wanted) {
      const { current, plan } = await read(id, wanted)
      const price = taxedPrice(plan, wanted.tax)
      const isThere =
        current.planId === plan.id && current.price === price && current.neverExpires === true
      if (isThere) return
      requireSuccess(
        await gateway.subscription.update(id, {
          planId: plan.id,
          price,
          ...NEVER_EXPIRES,
          options: {
            prorateCharges: wanted.prorate,
            revertSubscriptionOnProrationFailure: true,
          },
        } as braintree.SubscriptionUpdateRequest),
      )
    },

    async replace(id, wanted, { operation, now }) {
      const { current, plan } = await read(id, wanted)
      return createOnce(context, {
        id: idOfOperation(operation),
        planId: plan.id,
        price: taxedPrice(plan, wanted.tax),
        paymentMethodToken: current.paymentMethodToken,
        ...trial(wanted.skipTrial ? 0 : trialDaysLeft(current, now)),
        discounts: { add: discountsFor(context, current, { plan, wanted, now }) },
      })
    },

    async previewSwap(id, wanted, now) {
      const { current, plan, replaces } = await read(id, wanted)
      const at = wanted.prorationDate ?? now
      return replaces
        ? previewReplacement(context, current, { plan, wanted, now: at })
        : previewChange(current, { plan, wanted, now: at })
    },
  }
}

interface Target {
  readonly plan: Plan
  readonly wanted: Swap
  readonly now: Date
}

function creditOf(
  { planCredit }: BraintreeContext,
  current: braintree.Subscription,
  { plan, wanted, now }: Target,
): Money {
  const terms: Terms = { today: dayOf(now), currency: plan.currency, planCredit }
  return money(wanted.prorate ? unusedValue(current, terms) : 0, plan.currency)
}

/**
 * The whole credit in the new subscription's first cycle: what that does not use up stays as its
 * balance and pays later cycles, so nothing is lost by dividing. Coupons come along.
 */
function discountsFor(
  context: BraintreeContext,
  current: braintree.Subscription,
  target: Target,
): braintree.DiscountAddRequest[] {
  const credit = creditOf(context, current, target)
  const coupons = carriedCoupons(context, current, target.plan)
  if (credit.amount === 0) return coupons
  const planCredit = {
    inheritedFromId: context.planCredit,
    amount: toDecimal(credit),
    numberOfBillingCycles: 1,
  }
  return [planCredit, ...coupons]
}

function carriedCoupons(
  { planCredit }: BraintreeContext,
  { discounts = [] }: braintree.Subscription,
  plan: Plan,
): braintree.DiscountAddRequest[] {
  return discounts
    .filter(({ id }) => id !== planCredit && !plan.discounts.includes(id))
    .filter((each) => each.neverExpires || cyclesLeft(each) > 0)
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

function previewReplacement(
  context: BraintreeContext,
  current: braintree.Subscription,
  target: Target,
): SwapPreview {
  const { plan, wanted, now } = target
  const credit = creditOf(context, current, target)
  const price = money(addTax(plan.price, wanted.tax), plan.currency)
  const coupons = carriedCoupons(context, current, plan).reduce(
    (sum, { amount, quantity }) =>
      sum + fromDecimal(amount ?? '0', plan.currency).amount * (quantity ?? 1),
    0,
  )
  const stays = !wanted.skipTrial && trialDaysLeft(current, now) > 0
  return {
    immediately: !stays,
    total: money(Math.max(0, price.amount - coupons - credit.amount), plan.currency),
    credit,
    lines: [
      { description: plan.id, amount: price },
      ...(coupons === 0
        ? []
        : [{ description: 'Discount', amount: money(-coupons, plan.currency) }]),
      { description: 'Unused time', amount: money(-credit.amount, plan.currency) },
    ],
    prorationDate: now,
  }
}

/** Same frequency: Braintree charges or credits the difference for the days that are left. */
function previewChange(
  current: braintree.Subscription,
  { plan, wanted, now }: Target,
): SwapPreview {
  const { currency } = plan
  const before = fromDecimal(current.price ?? '0', currency).amount
  const { all, left } = daysOf(current, dayOf(now))
  const share = (amount: number) =>
    all === 0 || !wanted.prorate ? 0 : proportion(amount, left, all)
  const change = share(addTax(plan.price, wanted.tax) - before)
  return {
    immediately: change > 0,
    total: money(Math.max(0, change), currency),
    credit: money(share(before), currency),
    lines: [{ description: `${current.planId} → ${plan.id}`, amount: money(change, currency) }],
    prorationDate: now,
  }
}
