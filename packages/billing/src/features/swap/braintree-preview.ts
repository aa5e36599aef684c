import type braintree from 'braintree'
import { money } from '../../core/values/money.ts'
import { afterChanges } from '../../providers/braintree/add-ons.ts'
import type { BraintreeContext } from '../../providers/braintree/client.ts'
import { dayOf, endOfDay, startOfDay } from '../../providers/braintree/days.ts'
import {
  amountOf,
  balanceOf,
  debtOf,
  type Modification,
  type Terms,
  unusedPeriod,
} from '../../providers/braintree/plan-credit.ts'
import {
  type Line,
  lineOfBalance,
  linesOfCycle,
  toUpcoming,
  withUnusedCredit,
} from '../forecasts/braintree-lines.ts'
import { proratedChange, withUpdates } from '../proration/braintree.ts'
import type {
  PlannedChange,
  PlannedReplacement,
  PlannedSwap,
  SwapTarget,
} from './braintree-planned-swap.ts'
import type { SwapPreview } from './contract.ts'

/**
 * Forecasts what Braintree will charge for a request, because Braintree has no previews. Makes no
 * decision about the swap: everything is read from the request that would be sent.
 */
export function forecast(
  { planCredit }: BraintreeContext,
  target: SwapTarget,
  planned: PlannedSwap,
): SwapPreview {
  const { plan, now, wanted } = target
  const terms: Terms = { today: dayOf(now), currency: plan.currency, planCredit }
  const bill = withDebt(
    debtOf(target.current, plan.currency),
    planned.kind === 'change'
      ? billOfChange(target, planned, terms)
      : billOfReplacement(target, planned, terms),
  )
  return {
    ...toUpcoming(bill.lines, {
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
function withDebt(debt: number, whole: Bill): Bill {
  const bill = { ...whole, lines: withUnusedCredit(whole.lines) }
  if (debt === 0) return bill
  const line: Line = { kind: 'balance', description: 'Past due', amount: debt }
  return { ...bill, on: null, lines: bill.on === null ? [...bill.lines, line] : [line] }
}

interface Bill {
  /** The day of the charge. `null` for immediately. */
  readonly on: string | null
  readonly lines: readonly Line[]
  readonly credit: number
}

/**
 * Forecasts a change with the same frequency: the difference for the remaining days goes on the
 * balance. If more is owed then, it is charged immediately; otherwise the next cycle is charged
 * together with the balance.
 */
function billOfChange(
  { current, plan }: SwapTarget,
  { request }: PlannedChange,
  terms: Terms,
): Bill {
  const discounts = withUpdates(current.discounts ?? [], request)
  const addOns = afterChanges(current.addOns ?? [], request)
  const isProrated = request.options?.prorateCharges ?? false
  const change = isProrated ? proratedChange(current, request, terms) : 0
  const proration: Line = {
    kind: 'proration',
    description: current.planId === plan.id ? 'Changed prices' : `${current.planId} → ${plan.id}`,
    amount: change,
  }
  const before = balanceOf(current, terms.currency)
  const balance = lineOfBalance(before)
  const credit = isProrated ? unusedPeriod(current, terms) : 0
  if (change > 0 && before + change > 0) return { on: null, lines: [proration, balance], credit }
  const all = [...addOns.kept, ...addOns.added]
  const cycle = linesOfCycle({ ...request, planId: plan.id, addOns: all, discounts }, terms)
  return { on: nextBillingDay(current), lines: [...cycle, proration, balance], credit }
}

/** Forecasts a new subscription, which is charged immediately, or at the end of its trial. */
function billOfReplacement(
  { plan, current }: SwapTarget,
  { request }: PlannedReplacement,
  terms: Terms,
): Bill {
  const added = (request.discounts?.add ?? []).map((each) => ({
    ...each,
    id: each.inheritedFromId,
  }))
  const credit = added
    .filter(({ id }) => id === terms.planCredit)
    .reduce((sum, each) => sum + amountOf(each as Modification, terms), 0)
  const discounts = [...withUpdates(plan.discounts, request), ...(added as Modification[])]
  const addOns = afterChanges(plan.addOns, request)
  return {
    on: request.trialPeriod ? (current.firstBillingDate ?? null) : null,
    lines: linesOfCycle(
      { ...request, addOns: [...addOns.kept, ...addOns.added], discounts },
      terms,
    ),
    credit,
  }
}

function nextBillingDay({ nextBillingDate, billingPeriodEndDate }: braintree.Subscription): string {
  if (nextBillingDate) return nextBillingDate
  return dayOf(endOfDay(billingPeriodEndDate ?? '1970-01-01'))
}
