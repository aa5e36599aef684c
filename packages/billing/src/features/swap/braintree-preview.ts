import type braintree from 'braintree'
import { money } from '../../core/values/money.ts'
import { applyAddOnChanges } from '../../providers/braintree/add-ons.ts'
import type { BraintreeContext } from '../../providers/braintree/client.ts'
import { endOfDay, startOfDay, toCalendarDay } from '../../providers/braintree/days.ts'
import {
  type AddOnOrDiscount,
  type CreditTerms,
  computeUnusedPeriodValue,
  getBalanceWithoutDebt,
  getModificationAmount,
  getSubscriptionDebt,
} from '../../providers/braintree/plan-credit.ts'
import {
  addUnusedCreditLine,
  createBalanceLine,
  type ForecastLine,
  forecastCycleLines,
  toUpcomingInvoice,
} from '../forecasts/braintree-lines.ts'
import { computeProratedCharge, withDiscountUpdates } from '../proration/braintree.ts'
import type {
  BraintreeChangeRequest,
  BraintreeReplacementRequest,
  BraintreeSwapRequest,
  SwapTarget,
} from './braintree-planned-swap.ts'
import type { SwapPreview } from './contract.ts'

/**
 * Calculates what Braintree will charge for a swap, because Braintree has no previews. Reads
 * everything from the request that the swap would send, so that preview and swap cannot differ.
 */
export function forecastSwap(
  { planCredit }: BraintreeContext,
  target: SwapTarget,
  planned: BraintreeSwapRequest,
): SwapPreview {
  const { plan, now, wanted } = target
  const terms: CreditTerms = { today: toCalendarDay(now), currency: plan.currency, planCredit }
  const bill = addPastDue(
    getSubscriptionDebt(target.current, plan.currency),
    planned.kind === 'change'
      ? forecastChange(target, planned, terms)
      : forecastReplacement(target, planned, terms),
  )
  return {
    ...toUpcomingInvoice(bill.lines, {
      currency: plan.currency,
      tax: wanted.tax,
      date: bill.on === null ? now : startOfDay(bill.on),
    }),
    immediately: bill.on === null,
    credit: money(bill.credit, plan.currency),
    prorationDate: now,
  }
}

/**
 * Adds the past-due amount, which is collected with the swap. If the swap itself is charged later,
 * only that amount is charged today.
 */
function addPastDue(debt: number, whole: ForecastBill): ForecastBill {
  const bill = { ...whole, lines: addUnusedCreditLine(whole.lines) }
  if (debt === 0) return bill
  const line: ForecastLine = { kind: 'balance', description: 'Past due', amount: debt }
  return { ...bill, on: null, lines: bill.on === null ? [...bill.lines, line] : [line] }
}

interface ForecastBill {
  /** The day of the charge. `null` for immediately. */
  readonly on: string | null
  readonly lines: readonly ForecastLine[]
  readonly credit: number
}

/**
 * Forecasts a change with the same frequency: the difference for the remaining days is added to the
 * balance. If the price rises and the customer owes money after that, the balance is charged
 * immediately; otherwise the next cycle is charged together with the balance.
 */
function forecastChange(
  { current, plan }: SwapTarget,
  { request }: BraintreeChangeRequest,
  terms: CreditTerms,
): ForecastBill {
  const discounts = withDiscountUpdates(current.discounts ?? [], request)
  const addOns = applyAddOnChanges(current.addOns ?? [], request)
  const isProrated = request.options?.prorateCharges ?? false
  const change = isProrated ? computeProratedCharge(current, request, terms) : 0
  const proration: ForecastLine = {
    kind: 'proration',
    description: current.planId === plan.id ? 'Changed prices' : `${current.planId} → ${plan.id}`,
    amount: change,
  }
  const before = getBalanceWithoutDebt(current, terms.currency)
  const balance = createBalanceLine(before)
  const credit = isProrated ? computeUnusedPeriodValue(current, terms) : 0
  if (change > 0 && before + change > 0) return { on: null, lines: [proration, balance], credit }
  const all = [...addOns.kept, ...addOns.added]
  const cycle = forecastCycleLines({ ...request, planId: plan.id, addOns: all, discounts }, terms)
  return { on: nextBillingDay(current), lines: [...cycle, proration, balance], credit }
}

/** Forecasts a new subscription, which is charged immediately, or at the end of its trial. */
function forecastReplacement(
  { plan, current }: SwapTarget,
  { request }: BraintreeReplacementRequest,
  terms: CreditTerms,
): ForecastBill {
  const added = (request.discounts?.add ?? []).map((each) => ({
    ...each,
    id: each.inheritedFromId,
  }))
  const credit = added
    .filter(({ id }) => id === terms.planCredit)
    .reduce((sum, each) => sum + getModificationAmount(each as AddOnOrDiscount, terms), 0)
  const discounts = [
    ...withDiscountUpdates(plan.discounts, request),
    ...(added as AddOnOrDiscount[]),
  ]
  const addOns = applyAddOnChanges(plan.addOns, request)
  return {
    on: request.trialPeriod ? (current.firstBillingDate ?? null) : null,
    lines: forecastCycleLines(
      { ...request, addOns: [...addOns.kept, ...addOns.added], discounts },
      terms,
    ),
    credit,
  }
}

function nextBillingDay({ nextBillingDate, billingPeriodEndDate }: braintree.Subscription): string {
  if (nextBillingDate) return nextBillingDate
  return toCalendarDay(endOfDay(billingPeriodEndDate ?? '1970-01-01'))
}
