import type braintree from 'braintree'
import { InvalidArgument } from '../../core/errors/errors.ts'
import { money, toDecimal } from '../../core/values/money.ts'
import { computeRemainingMoney, type PaidTime } from '../../core/values/money-back.ts'
import {
  type AddOnChanges,
  type AddOns,
  buildAddOnChanges,
  buildAddOnsWithTaxRate,
  buildItemAddOns,
  buildNewSubscriptionAddOns,
  listApplicableAddOns,
} from '../../providers/braintree/add-ons.ts'
import type { BraintreeContext } from '../../providers/braintree/client.ts'
import { countDaysBetween, toCalendarDay } from '../../providers/braintree/days.ts'
import {
  hasBraintreeSubscriptionEnded,
  isInTrial,
} from '../../providers/braintree/describe-subscription.ts'
import { computeUnusedCreditRemainder } from '../../providers/braintree/paid-for.ts'
import {
  type CreditTerms,
  computeUnusedValue,
  countCyclesLeft,
  getModificationAmount,
} from '../../providers/braintree/plan-credit.ts'
import type { PlanWithAddOns } from '../../providers/braintree/plans.ts'
import {
  buildDiscountUpdates,
  buildPlanDiscountUpdates,
  recalculateCoupons,
  type TaxedCoupon,
  toGrossDiscounts,
} from '../promotion-codes/braintree-coupons.ts'
import { computeProratedCharge, type PriceChangeFields } from '../proration/braintree.ts'
import { buildTrialParams, computePriceWithTax, NEVER_EXPIRES } from '../subscribe/braintree.ts'
import type { SwapRequest } from './contract.ts'

/**
 * The request that a swap sends to Braintree. A preview calculates the cost from the same request
 * without sending it.
 */
export type BraintreeSwapRequest = BraintreeChangeRequest | BraintreeReplacementRequest

export interface BraintreeChangeRequest {
  readonly kind: 'change'
  readonly request: braintree.SubscriptionUpdateRequest & { readonly price: string }
  /** Whether the subscription already has the wanted terms. */
  readonly isThere: boolean
}

/**
 * A request for a new subscription that replaces the old one, because Braintree can change neither
 * the billing frequency nor the trial of a subscription, nor a subscription that has ended.
 */
export interface BraintreeReplacementRequest {
  readonly kind: 'replacement'
  readonly request: Omit<braintree.SubscriptionCreateRequest, 'id'> & { readonly price: string }
}

export interface SwapTarget {
  readonly current: braintree.Subscription
  /** The plan before the swap. `plan` is the plan after it. */
  readonly old: PlanWithAddOns
  readonly plan: PlanWithAddOns
  readonly wanted: SwapRequest
  /** Amounts of the coupons as defined in Braintree's control panel, by id. */
  readonly worth: ReadonlyMap<string, number>
  /** Prices of the add-ons as defined in Braintree's control panel. */
  readonly addOns: AddOns
  /**
   * The money paid for the current billing period, and how much of that money was returned. `null`
   * if no money was returned.
   */
  readonly paid: PaidTime | null
  readonly now: Date
}

export function buildSwapRequest(
  context: BraintreeContext,
  target: SwapTarget,
): BraintreeSwapRequest {
  const { current, old, plan, wanted } = target
  const replaces =
    hasBraintreeSubscriptionEnded(current) ||
    old.frequency !== plan.frequency ||
    (wanted.skipTrial && isInTrial(current))
  if (replaces) return buildReplacementRequest(context, target)
  const change = buildChangeRequest(context, target)
  return needsReplacementForCredit(context, target, change)
    ? buildReplacementRequest(context, target)
    : change
}

/**
 * Whether the customer may get credit for only part of the unused time, because part of the paid
 * money was returned. Braintree itself credits the unused time at its full price or not at all, so
 * a change to another plan or to a lower price then needs a new subscription, which gets the
 * remaining credit.
 */
function needsReplacementForCredit(
  context: BraintreeContext,
  target: SwapTarget,
  { request, isThere }: BraintreeChangeRequest,
): boolean {
  const { current, plan, wanted, paid } = target
  if (paid === null || isThere || !wanted.prorate) return false
  if (current.planId !== plan.id) return true
  return (
    computeProratedCharge(current, request, toCreditTerms(context, target)) < 0 &&
    computeRemainingMoney(paid) > 0
  )
}

function toCreditTerms({ planCredit }: BraintreeContext, { plan, now }: SwapTarget): CreditTerms {
  return { today: toCalendarDay(now), currency: plan.currency, planCredit }
}

function buildChangeRequest(context: BraintreeContext, target: SwapTarget): BraintreeChangeRequest {
  const { current, plan, wanted } = target
  const price = computePriceWithTax(plan, wanted.tax)
  const changes = buildDiscountUpdates(computeCouponsAfterSwap(context, target))
  const addOns = computeAddOnsAfterSwap(target)
  const request = { planId: plan.id, price, ...changes, ...addOns, ...NEVER_EXPIRES }
  return {
    kind: 'change',
    isThere:
      current.planId === plan.id &&
      current.price === price &&
      current.neverExpires === true &&
      !addOns.addOns,
    request: { ...request, options: buildProrationOptions(context, target, request) },
  }
}

/**
 * Turns proration off for a change to a lower price if all the money paid for the period was
 * returned.
 */
function buildProrationOptions(
  context: BraintreeContext,
  target: SwapTarget,
  request: PriceChangeFields,
) {
  const { current, wanted, paid } = target
  const isUnpaid = paid !== null && computeRemainingMoney(paid) === 0
  const isLess = computeProratedCharge(current, request, toCreditTerms(context, target)) < 0
  return {
    prorateCharges: wanted.prorate && !(isUnpaid && isLess),
    revertSubscriptionOnProrationFailure: true,
  }
}

/**
 * Builds the request for a change of add-ons only: the main price, the coupons and the end of the
 * subscription stay as they are.
 * @throws {InvalidArgument} if a part of the paid money was returned, so that only a part of the
 * unused time may be credited: Braintree credits all of it or nothing.
 */
export function buildItemsRequest(
  context: BraintreeContext,
  target: SwapTarget,
): BraintreeChangeRequest {
  const { current } = target
  const addOns = computeAddOnsAfterSwap(target)
  const request = { price: current.price ?? '0', ...addOns }
  const planned: BraintreeChangeRequest = {
    kind: 'change',
    isThere: !addOns.addOns,
    request: { ...request, options: buildProrationOptions(context, target, request) },
  }
  if (!needsReplacementForCredit(context, target, planned)) return planned
  throw new InvalidArgument(
    'Some of the money for this period was already returned, and Braintree can only credit unused time in full: noProrate(), or swap() with all prices, which starts a new period with the remaining credit',
  )
}

/**
 * Returns the add-ons of a subscription that is changed in place: the listed ones, or all present
 * ones with the new tax.
 */
function computeAddOnsAfterSwap({ current, plan, wanted, addOns }: SwapTarget): AddOnChanges {
  const { addOns: present = [] } = current
  const terms = { addOns, currency: plan.currency, before: wanted.before, after: wanted.tax }
  const list = wanted.items
    ? buildItemAddOns(present, wanted.items.slice(1), terms)
    : buildAddOnsWithTaxRate(present, terms)
  return buildAddOnChanges(present, list, plan.currency)
}

/**
 * Returns the add-ons of a new subscription that replaces this one. The price of an add-on does not
 * depend on the length of the period. If that length changes, only the add-ons that the new plan
 * includes are used, and the caller must list any others.
 */
function computeReplacementAddOns({
  current,
  old,
  plan,
  wanted,
  addOns,
}: SwapTarget): AddOnChanges {
  const terms = { addOns, currency: plan.currency, before: wanted.before, after: wanted.tax }
  const counting = listApplicableAddOns(current)
  const isListed = wanted.items !== undefined
  const hasSamePeriod = old.frequency === plan.frequency
  const further = counting.find(({ id }) => !old.addOns.some((own) => own.id === id))
  if (!isListed && !hasSamePeriod && further) {
    throw new InvalidArgument(
      `The add-on '${further.id}' costs the same for any length of period, and the swap changes that length: list all prices, swap([{ price: '${plan.id}' }, …])`,
    )
  }
  const list = wanted.items
    ? buildItemAddOns(hasSamePeriod ? counting : [], wanted.items.slice(1), terms)
    : hasSamePeriod
      ? buildAddOnsWithTaxRate(counting, wanted.keepsPrice ? { ...terms, before: null } : terms)
      : buildNewSubscriptionAddOns(plan, [], { addOns, tax: wanted.tax })
  return buildAddOnChanges(plan.addOns, list, plan.currency)
}

export function buildReplacementRequest(
  context: BraintreeContext,
  target: SwapTarget,
): BraintreeReplacementRequest {
  const { current, plan, wanted, now } = target
  return {
    kind: 'replacement',
    request: {
      planId: plan.id,
      price:
        wanted.keepsPrice && current.price ? current.price : computePriceWithTax(plan, wanted.tax),
      paymentMethodToken: current.paymentMethodToken,
      ...buildTrialParams(wanted.skipTrial ? 0 : trialDaysLeft(current, now)),
      discounts: discountsFor(context, target),
      ...computeReplacementAddOns(target),
    },
  }
}

/**
 * Calculates the coupons for the new price. A resumed subscription keeps its price, and its coupons
 * stay as they are.
 */
function computeCouponsAfterSwap(
  { planCredit }: BraintreeContext,
  { current, plan, wanted, worth }: SwapTarget,
): TaxedCoupon[] {
  const { before } = wanted
  const after =
    wanted.keepsPrice && before
      ? before
      : { net: plan.price, tax: wanted.keepsPrice ? 0 : wanted.tax }
  return recalculateCoupons(current, { currency: plan.currency, planCredit, before, after, worth })
}

/**
 * Puts the whole credit into the first cycle of the new subscription. Braintree keeps the part that
 * exceeds the price as the subscription's balance, which pays for later cycles, so no cent is lost
 * by dividing. The coupons are moved to the new subscription.
 */
function discountsFor(
  context: BraintreeContext,
  target: SwapTarget,
): braintree.SubscriptionCreateRequest['discounts'] {
  const { planCredit } = context
  const { plan, wanted } = target
  const terms = toCreditTerms(context, target)
  const credit = wanted.prorate ? creditOf(target, terms) : 0
  const carrier = {
    inheritedFromId: planCredit,
    amount: toDecimal(money(credit, plan.currency)),
    numberOfBillingCycles: 1,
  }
  const coupons = computeCouponsAfterSwap(context, target)
    .filter(({ discount }) => !plan.discounts.some((own) => own.id === discount.id))
    .map(toRequest)
  const amounts = plan.discounts.map((each) => getModificationAmount(each, terms))
  const taken = toGrossDiscounts({ net: plan.price, tax: wanted.tax }, amounts)
  const update = buildPlanDiscountUpdates(plan, taken, plan.currency)
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
      : { numberOfBillingCycles: countCyclesLeft(discount) }),
  }
}

function creditOf({ current, paid }: SwapTarget, terms: CreditTerms): number {
  if (hasBraintreeSubscriptionEnded(current))
    return computeUnusedCreditRemainder(current, terms, terms.today)
  return computeUnusedValue(current, { ...terms, paid })
}

function trialDaysLeft(current: braintree.Subscription, now: Date): number {
  if (!isInTrial(current) || !current.firstBillingDate) return 0
  return Math.max(0, countDaysBetween(toCalendarDay(now), current.firstBillingDate))
}
