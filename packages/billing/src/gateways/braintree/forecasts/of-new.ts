import type braintree from 'braintree'
import { UnknownCoupon } from '../../../errors.ts'
import type { PossibleSubscription } from '../../contract/parts/subscriptions/forecasts.ts'
import type { FirstInvoices } from '../../contract/upcoming-invoice.ts'
import type { BraintreeContext } from '../sdk/client.ts'
import {
  addDays,
  addMonths,
  anchorOf,
  type Day,
  dayOf,
  nextDayOfMonth,
  startOfDay,
} from '../sdk/days.ts'
import { afterChanges } from '../subscriptions/add-ons.ts'
import {
  type CycleTerms,
  type Line,
  lineOfBalance,
  linesOfCycle,
  sumOf,
  toUpcoming,
  withRest,
} from '../subscriptions/bill.ts'
import { hasCyclesLeft, type Modification } from '../subscriptions/plan-credit.ts'
import { type Plan, requirePlan } from '../subscriptions/plans.ts'
import { requestOfNew } from '../subscriptions/subscriptions.ts'

type Request = Awaited<ReturnType<typeof requestOfNew>>

/** Nothing about it is decided here: it is read from the request that would be sent. */
export async function firstInvoices(
  context: BraintreeContext,
  wanted: PossibleSubscription,
  now: Date,
): Promise<FirstInvoices> {
  const plan = await requirePlan(context, wanted.plan)
  const request = await requestOfNew(context, plan, wanted)
  const cycle = await firstCycle(context, plan, request)
  const { currency } = plan
  const terms = { currency, planCredit: context.planCredit }
  const invoice = (lines: readonly Line[], date: Date) =>
    toUpcoming(withRest(lines), { currency, tax: wanted.tax, date })
  const lines = linesOfCycle(cycle, terms)
  const begins = firstDay(plan, request, dayOf(now))
  // In a trial, and before the plan's own day, nothing is charged.
  if (begins > dayOf(now))
    return { now: invoice([], now), next: invoice(lines, startOfDay(begins)) }
  const rest = Math.min(0, sumOf(lines))
  const second = [...linesOfCycle(afterFirst(cycle), terms), lineOfBalance(rest)]
  const next = addMonths(begins, plan.frequency, plan.billingDay ?? anchorOf(begins))
  return {
    now: invoice(lines, now),
    next: plan.cycles === 1 ? null : invoice(second, startOfDay(next)),
  }
}

function firstDay(plan: Plan, { trialPeriod, trialDuration }: Request, today: Day): Day {
  if (trialPeriod) return addDays(today, trialDuration ?? 0)
  return plan.billingDay === null ? today : nextDayOfMonth(today, plan.billingDay)
}

/** With what the plan brings along and what is added to it, each as the control panel has it where nothing is said. */
async function firstCycle(
  { gateway }: BraintreeContext,
  plan: Plan,
  request: Request,
): Promise<CycleTerms> {
  const { add = [], update = [] } = request.discounts ?? {}
  const listed = add.length > 0 ? await gateway.discount.all() : []
  const own = plan.discounts.map((each) => ({
    ...each,
    ...update.find(({ existingId }) => existingId === each.id),
  }))
  const added = add.map((each) => ({ ...requireDiscount(listed, each.inheritedFromId), ...each }))
  const addOns = afterChanges(plan.addOns, request)
  return {
    planId: plan.id,
    price: request.price,
    addOns: [...addOns.kept, ...addOns.added],
    discounts: [...own, ...(added as Modification[])],
  }
}

/** As Braintree refuses one that it does not know. */
function requireDiscount(listed: readonly braintree.Discount[], id: string): braintree.Discount {
  const found = listed.find((each) => each.id === id)
  if (found) return found
  throw new UnknownCoupon(`Braintree has no discount '${id}'`, {
    provider: 'braintree',
    providerCode: '92013',
  })
}

/** What is left for the cycles after it. */
function afterFirst(cycle: CycleTerms): CycleTerms {
  const counted = (all: readonly Modification[]) =>
    all.filter(hasCyclesLeft).map((each) => ({
      ...each,
      currentBillingCycle: (each.currentBillingCycle ?? 0) + 1,
    }))
  return { ...cycle, addOns: counted(cycle.addOns), discounts: counted(cycle.discounts) }
}
