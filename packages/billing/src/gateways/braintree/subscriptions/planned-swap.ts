import type braintree from 'braintree'
import { InvalidArgument } from '../../../errors.ts'
import { money, toDecimal } from '../../../values/money.ts'
import { leftOf, type PaidTime } from '../../../values/paid/money-back.ts'
import type { Swap } from '../../contract/swap.ts'
import type { BraintreeContext } from '../sdk/client.ts'
import { dayOf, daysBetween } from '../sdk/days.ts'
import {
  type AddOnChanges,
  type AddOns,
  addOnChanges,
  addOnsOfList,
  addOnsOfNew,
  countingAddOns,
  retaxed,
} from './add-ons.ts'
import {
  couponsOn,
  discountUpdates,
  grossCoupons,
  type TaxedCoupon,
  updatesOfPlan,
} from './coupons.ts'
import { inTrial, isOver } from './describe.ts'
import { unusedTail } from './paid-for.ts'
import { amountOf, cyclesLeft, type Terms, unusedValue } from './plan-credit.ts'
import type { Plan } from './plans.ts'
import { type PriceChanges, proratedChange } from './proration.ts'
import { NEVER_EXPIRES, taxedPrice, trial } from './subscriptions.ts'

/** What a swap asks Braintree for. It is sent, or only forecast for a preview. */
export type PlannedSwap = PlannedChange | PlannedReplacement

export interface PlannedChange {
  readonly kind: 'change'
  readonly request: braintree.SubscriptionUpdateRequest & { readonly price: string }
  /** All is as wanted already. */
  readonly isThere: boolean
}

/** A new subscription: Braintree can change neither frequency nor trial, and nothing that is over. */
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
  /** What its coupons are worth by the control panel. */
  readonly worth: ReadonlyMap<string, number>
  /** What add-ons cost by the control panel. */
  readonly addOns: AddOns
  /** The money for the running period; null if none of it went back. */
  readonly paid: PaidTime | null
  readonly now: Date
}

export function planSwap(context: BraintreeContext, target: SwapTarget): PlannedSwap {
  const { current, old, plan, wanted } = target
  const replaces =
    isOver(current) || old.frequency !== plan.frequency || (wanted.skipTrial && inTrial(current))
  if (replaces) return planReplacement(context, target)
  const change = planChange(context, target)
  return isCreditPartly(context, target, change) ? planReplacement(context, target) : change
}

/**
 * Whether the credit for a change is only partly paid. Braintree credits the rest of a period by its price or not at all, so such
 * a change to another plan or a lower price needs a new subscription, which gets the credit that is left.
 */
function isCreditPartly(
  context: BraintreeContext,
  target: SwapTarget,
  { request, isThere }: PlannedChange,
): boolean {
  const { current, plan, wanted, paid } = target
  if (paid === null || isThere || !wanted.prorate) return false
  if (current.planId !== plan.id) return true
  return proratedChange(current, request, termsOf(context, target)) < 0 && leftOf(paid) > 0
}

function termsOf({ planCredit }: BraintreeContext, { plan, now }: SwapTarget): Terms {
  return { today: dayOf(now), currency: plan.currency, planCredit }
}

function planChange(context: BraintreeContext, target: SwapTarget): PlannedChange {
  const { current, plan, wanted } = target
  const price = taxedPrice(plan, wanted.tax)
  const changes = discountUpdates(couponsAfter(context, target))
  const addOns = addOnsAfter(target)
  const request = { planId: plan.id, price, ...changes, ...addOns, ...NEVER_EXPIRES }
  return {
    kind: 'change',
    isThere:
      current.planId === plan.id &&
      current.price === price &&
      current.neverExpires === true &&
      !addOns.addOns,
    request: { ...request, options: prorating(context, target, request) },
  }
}

/** Turns proration off for a change that costs less while none of the money for the period is left. */
function prorating(context: BraintreeContext, target: SwapTarget, request: PriceChanges) {
  const { current, wanted, paid } = target
  const isUnpaid = paid !== null && leftOf(paid) === 0
  const isLess = proratedChange(current, request, termsOf(context, target)) < 0
  return {
    prorateCharges: wanted.prorate && !(isUnpaid && isLess),
    revertSubscriptionOnProrationFailure: true,
  }
}

/**
 * Other add-ons, and nothing else: price, coupons and end stay as they are.
 * @throws InvalidArgument if only a part of the credit is paid: Braintree credits all or nothing.
 */
export function planItems(context: BraintreeContext, target: SwapTarget): PlannedChange {
  const { current } = target
  const addOns = addOnsAfter(target)
  const request = { price: current.price ?? '0', ...addOns }
  const planned: PlannedChange = {
    kind: 'change',
    isThere: !addOns.addOns,
    request: { ...request, options: prorating(context, target, request) },
  }
  if (!isCreditPartly(context, target, planned)) return planned
  throw new InvalidArgument(
    'Some of the money for this period went back, and Braintree cannot credit a part of what is taken away: noProrate(), or swap() with all prices, which starts a new period with the credit that is left',
  )
}

/** The add-ons of a subscription that is changed in place: those that are listed, or all with the new tax. */
function addOnsAfter({ current, plan, wanted, addOns }: SwapTarget): AddOnChanges {
  const { addOns: present = [] } = current
  const terms = { addOns, currency: plan.currency, before: wanted.before, after: wanted.tax }
  const list = wanted.items
    ? addOnsOfList(present, wanted.items.slice(1), terms)
    : retaxed(present, terms)
  return addOnChanges(present, list, plan.currency)
}

/**
 * Those of a new subscription in its place. An add-on costs the same in each period, however long that is: for
 * periods of another length the plan's own are taken, and others have to be listed.
 */
function addOnsOfReplacement({ current, old, plan, wanted, addOns }: SwapTarget): AddOnChanges {
  const terms = { addOns, currency: plan.currency, before: wanted.before, after: wanted.tax }
  const counting = countingAddOns(current)
  const isListed = wanted.items !== undefined
  const hasSamePeriod = old.frequency === plan.frequency
  const further = counting.find(({ id }) => !old.addOns.some((own) => own.id === id))
  if (!isListed && !hasSamePeriod && further) {
    throw new InvalidArgument(
      `'${further.id}' costs the same for a period of any length: name all prices, swap([{ price: '${plan.id}' }, …])`,
    )
  }
  const list = wanted.items
    ? addOnsOfList(hasSamePeriod ? counting : [], wanted.items.slice(1), terms)
    : hasSamePeriod
      ? retaxed(counting, wanted.keepsPrice ? { ...terms, before: null } : terms)
      : addOnsOfNew(plan, [], { addOns, tax: wanted.tax })
  return addOnChanges(plan.addOns, list, plan.currency)
}

export function planReplacement(context: BraintreeContext, target: SwapTarget): PlannedReplacement {
  const { current, plan, wanted, now } = target
  return {
    kind: 'replacement',
    request: {
      planId: plan.id,
      price: wanted.keepsPrice && current.price ? current.price : taxedPrice(plan, wanted.tax),
      paymentMethodToken: current.paymentMethodToken,
      ...trial(wanted.skipTrial ? 0 : trialDaysLeft(current, now)),
      discounts: discountsFor(context, target),
      ...addOnsOfReplacement(target),
    },
  }
}

/** The coupons on the new price. One that is taken back keeps its price, and they stay as they are. */
function couponsAfter(
  { planCredit }: BraintreeContext,
  { current, plan, wanted, worth }: SwapTarget,
): TaxedCoupon[] {
  const { before } = wanted
  const after =
    wanted.keepsPrice && before
      ? before
      : { net: plan.price, tax: wanted.keepsPrice ? 0 : wanted.tax }
  return couponsOn(current, { currency: plan.currency, planCredit, before, after, worth })
}

/**
 * The whole credit in the new subscription's first cycle: what that does not use up stays as its
 * balance and pays later cycles, so nothing is lost by dividing. Coupons come along.
 */
function discountsFor(
  context: BraintreeContext,
  target: SwapTarget,
): braintree.SubscriptionCreateRequest['discounts'] {
  const { planCredit } = context
  const { plan, wanted } = target
  const terms = termsOf(context, target)
  const credit = wanted.prorate ? creditOf(target, terms) : 0
  const carrier = {
    inheritedFromId: planCredit,
    amount: toDecimal(money(credit, plan.currency)),
    numberOfBillingCycles: 1,
  }
  const coupons = couponsAfter(context, target)
    .filter(({ discount }) => !plan.discounts.some((own) => own.id === discount.id))
    .map(toRequest)
  const amounts = plan.discounts.map((each) => amountOf(each, terms))
  const taken = grossCoupons({ net: plan.price, tax: wanted.tax }, amounts)
  const update = updatesOfPlan(plan, taken, plan.currency)
  return {
    add: credit === 0 ? coupons : [carrier, ...coupons],
    ...(update.length > 0 ? { update } : {}),
  }
}

function toRequest({ discount, amount, isChanged }: TaxedCoupon): braintree.DiscountAddRequest {
  return {
    inheritedFromId: discount.id,
    ...(isChanged ? { amount } : { amount: discount.amount, quantity: discount.quantity ?? 1 }),
    ...(discount.neverExpires
      ? { neverExpires: true }
      : { numberOfBillingCycles: cyclesLeft(discount) }),
  }
}

function creditOf({ current, paid }: SwapTarget, terms: Terms): number {
  if (isOver(current)) return unusedTail(current, terms, terms.today)
  return unusedValue(current, { ...terms, paid })
}

function trialDaysLeft(current: braintree.Subscription, now: Date): number {
  if (!inTrial(current) || !current.firstBillingDate) return 0
  return Math.max(0, daysBetween(dayOf(now), current.firstBillingDate))
}
