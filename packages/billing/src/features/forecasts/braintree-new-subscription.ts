import type braintree from 'braintree'
import { UnknownCoupon } from '../../core/errors/errors.ts'
import { applyAddOnChanges } from '../../providers/braintree/add-ons.ts'
import type { BraintreeContext } from '../../providers/braintree/client.ts'
import {
  addDays,
  addMonths,
  type CalendarDay,
  findNextDayOfMonth,
  startOfDay,
  toCalendarDay,
  toMonthlyBillingDay,
} from '../../providers/braintree/days.ts'
import { type AddOnOrDiscount, hasCyclesLeft } from '../../providers/braintree/plan-credit.ts'
import { type PlanWithAddOns, requirePlan } from '../../providers/braintree/plans.ts'
import { buildNewSubscriptionRequest } from '../subscribe/braintree.ts'
import {
  addUnusedCreditLine,
  type CycleTerms,
  createBalanceLine,
  type ForecastLine,
  forecastCycleLines,
  sumForecastLines,
  toUpcomingInvoice,
} from './braintree-lines.ts'
import type { PreviewedSubscription } from './contract.ts'
import type { FirstInvoices } from './upcoming-invoice.ts'

type Request = Awaited<ReturnType<typeof buildNewSubscriptionRequest>>

/**
 * Previews the first invoices of a new subscription, calculated from the request that would create
 * it, because Braintree has no previews.
 */
export async function previewFirstInvoices(
  context: BraintreeContext,
  previewedSubscription: PreviewedSubscription,
  now: Date,
): Promise<FirstInvoices> {
  const plan = await requirePlan(context, previewedSubscription.price)
  const request = await buildNewSubscriptionRequest(context, plan, previewedSubscription)
  const cycle = await buildFirstCycle(context, plan, request)
  const { currency } = plan
  const terms = { currency, planCredit: context.planCredit }
  const invoice = (lines: readonly ForecastLine[], date: Date) =>
    toUpcomingInvoice(addUnusedCreditLine(lines), {
      currency,
      tax: previewedSubscription.tax,
      date,
    })
  const lines = forecastCycleLines(cycle, terms)
  const begins = findFirstBillingDay(plan, request, toCalendarDay(now))
  // A trial, or a plan with a later billing day, charges nothing yet.
  if (begins > toCalendarDay(now))
    return { now: invoice([], now), next: invoice(lines, startOfDay(begins)) }
  const rest = Math.min(0, sumForecastLines(lines))
  const second = [...forecastCycleLines(toLaterCycle(cycle), terms), createBalanceLine(rest)]
  const next = addMonths(begins, plan.frequency, plan.billingDay ?? toMonthlyBillingDay(begins))
  return {
    now: invoice(lines, now),
    next: plan.cycles === 1 ? null : invoice(second, startOfDay(next)),
  }
}

function findFirstBillingDay(
  plan: PlanWithAddOns,
  { trialPeriod, trialDuration }: Request,
  today: CalendarDay,
): CalendarDay {
  if (trialPeriod) return addDays(today, trialDuration ?? 0)
  return plan.billingDay === null ? today : findNextDayOfMonth(today, plan.billingDay)
}

/**
 * Returns the first cycle: the plan's own add-ons and discounts, and those that the request adds,
 * with Braintree's default values.
 */
async function buildFirstCycle(
  { gateway }: BraintreeContext,
  plan: PlanWithAddOns,
  request: Request,
): Promise<CycleTerms> {
  const { add = [], update = [] } = request.discounts ?? {}
  const listed = add.length > 0 ? await gateway.discount.all() : []
  const own = plan.discounts.map((each) => ({
    ...each,
    ...update.find(({ existingId }) => existingId === each.id),
  }))
  const added = add.map((each) => ({ ...requireDiscount(listed, each.inheritedFromId), ...each }))
  const addOns = applyAddOnChanges(plan.addOns, request)
  return {
    planId: plan.id,
    price: request.price,
    addOns: [...addOns.kept, ...addOns.added],
    discounts: [...own, ...(added as AddOnOrDiscount[])],
  }
}

/**
 * Finds a discount by its id.
 * @throws UnknownCoupon if there is none, as Braintree would.
 */
function requireDiscount(listed: readonly braintree.Discount[], id: string): braintree.Discount {
  const found = listed.find((each) => each.id === id)
  if (found) return found
  throw new UnknownCoupon(`Braintree has no discount '${id}'`, {
    provider: 'braintree',
    providerCode: '92013',
  })
}

/** Returns the price, add-ons and discounts that apply after the first cycle. */
function toLaterCycle(cycle: CycleTerms): CycleTerms {
  const counted = (all: readonly AddOnOrDiscount[]) =>
    all.filter(hasCyclesLeft).map((each) => ({
      ...each,
      currentBillingCycle: (each.currentBillingCycle ?? 0) + 1,
    }))
  return { ...cycle, addOns: counted(cycle.addOns), discounts: counted(cycle.discounts) }
}
