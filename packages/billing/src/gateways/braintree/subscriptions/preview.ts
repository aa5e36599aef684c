import type braintree from 'braintree'
import { money, proportion } from '../../../values/money.ts'
import type { PreviewLine, PreviewLineKind, SwapPreview } from '../../contract/swap.ts'
import { includedTax } from '../payments/included-tax.ts'
import type { BraintreeContext } from '../sdk/client.ts'
import { dayOf, endOfDay, startOfDay } from '../sdk/days.ts'
import { afterChanges } from './add-ons.ts'
import { inTrial } from './describe.ts'
import {
  amountOf,
  balanceOf,
  countsIn,
  daysOf,
  debtOf,
  hasCyclesLeft,
  type Modification,
  type Terms,
  toMinor,
  unusedPeriod,
} from './plan-credit.ts'
import type { PlannedChange, PlannedReplacement, PlannedSwap, SwapTarget } from './planned-swap.ts'

/**
 * What Braintree will charge for a request, since Braintree has no previews. Nothing about the swap is
 * decided here: it is read from the request that would be sent.
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
    withRest(
      planned.kind === 'change'
        ? billOfChange(target, planned, terms)
        : billOfReplacement(target, planned, terms),
    ),
  )
  const toLine = ({ kind, description, amount }: Line): PreviewLine => ({
    kind,
    description,
    amount: money(amount, plan.currency),
  })
  const total = sumOf(bill.lines)
  return {
    immediately: bill.on === null,
    date: bill.on === null ? now : startOfDay(bill.on),
    total: money(total, plan.currency),
    credit: money(bill.credit, plan.currency),
    lines: bill.lines.filter(({ amount }) => amount !== 0).map(toLine),
    includedTax: money(includedTax(total, wanted.tax), plan.currency),
    prorationDate: now,
  }
}

/** No bill is below zero: credit that it does not use stays on the balance. */
function withRest(bill: Bill): Bill {
  const rest = Math.max(0, -sumOf(bill.lines))
  const line: Line = { kind: 'balance', description: 'Kept for later invoices', amount: rest }
  return { ...bill, lines: [...bill.lines, line] }
}

/** What is past due is collected with the swap; then only that much is charged today. */
function withDebt(debt: number, bill: Bill): Bill {
  if (debt === 0) return bill
  const line: Line = { kind: 'balance', description: 'Past due', amount: debt }
  return { ...bill, on: null, lines: bill.on === null ? [...bill.lines, line] : [line] }
}

interface Line {
  readonly kind: PreviewLineKind
  readonly description: string
  readonly amount: number
}

interface Bill {
  /** The day it is charged on; null for at once. */
  readonly on: string | null
  readonly lines: readonly Line[]
  readonly credit: number
}

/**
 * Same frequency: the difference for the days that are left goes on the balance. If more is owed then,
 * it is charged at once; otherwise the next cycle is charged together with the balance.
 */
function billOfChange(
  { current, plan, wanted }: SwapTarget,
  { request }: PlannedChange,
  terms: Terms,
): Bill {
  const discounts = withUpdates(current.discounts ?? [], request)
  const addOns = afterChanges(current.addOns ?? [], request)
  const after = { request, discounts, addOns }
  const change = wanted.prorate ? proratedChange(current, after, terms) : 0
  const proration: Line = {
    kind: 'proration',
    description: current.planId === plan.id ? 'Changed prices' : `${current.planId} → ${plan.id}`,
    amount: change,
  }
  const before = balanceOf(current, terms.currency)
  const balance: Line = {
    kind: 'balance',
    description: before < 0 ? 'Credit from before' : 'Owed from before',
    amount: before,
  }
  const credit = wanted.prorate ? unusedPeriod(current, terms) : 0
  if (change > 0 && before + change > 0) return { on: null, lines: [proration, balance], credit }
  const all = [...addOns.kept, ...addOns.added]
  const cycle = linesOfCycle({ ...request, planId: plan.id, addOns: all, discounts }, terms)
  return { on: nextBillingDay(current), lines: [...cycle, proration, balance], credit }
}

function proratedChange(
  current: braintree.Subscription,
  after: {
    readonly request: { readonly price: string }
    readonly discounts: readonly Modification[]
    readonly addOns: { readonly kept: Modification[]; readonly added: Modification[] }
  },
  terms: Terms,
): number {
  const { all, left } = daysOf(current, terms.today)
  if (all === 0 || inTrial(current)) return 0
  const sum = (modifications: readonly Modification[]) =>
    modifications.reduce((total, each) => total + amountOf(each, terms), 0)
  const counted = (modifications: readonly Modification[] = []) =>
    sum(modifications.filter((each) => countsIn(each, current.currentBillingCycle)))
  const price =
    toMinor(after.request.price, terms.currency) - toMinor(current.price, terms.currency)
  // What is added counts in the running cycle from the first.
  const addOns = counted(after.addOns.kept) + sum(after.addOns.added) - counted(current.addOns)
  const discounts = counted(after.discounts) - counted(current.discounts)
  return proportion(price + addOns - discounts, left, all)
}

/** The discounts as the request leaves them. */
function withUpdates(
  discounts: readonly Modification[],
  request: PlannedSwap['request'],
): Modification[] {
  const updates = request.discounts?.update ?? []
  return discounts.map((each) => ({
    ...each,
    ...updates.find(({ existingId }) => existingId === each.id),
  }))
}

/** A new subscription is charged at once, or when its trial is over. */
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

interface CycleTerms {
  readonly planId?: string | undefined
  readonly price: string
  readonly addOns: readonly Modification[]
  readonly discounts: readonly Modification[]
}

/** Price and add-ons less discounts of the cycle that comes next. */
function linesOfCycle(cycle: CycleTerms, terms: Terms): Line[] {
  return [
    {
      kind: 'item',
      description: cycle.planId ?? '',
      amount: toMinor(cycle.price, terms.currency),
    },
    ...cycle.addOns.filter(hasCyclesLeft).map(
      (each): Line => ({
        kind: 'item',
        description: each.name ?? each.id,
        amount: amountOf(each, terms),
      }),
    ),
    ...cycle.discounts.filter(hasCyclesLeft).map(
      (each): Line =>
        each.id === terms.planCredit
          ? { kind: 'proration', description: 'Unused time', amount: -amountOf(each, terms) }
          : {
              kind: 'discount',
              description: `Discount (${each.name ?? each.id})`,
              amount: -amountOf(each, terms),
            },
    ),
  ]
}

function nextBillingDay({ nextBillingDate, billingPeriodEndDate }: braintree.Subscription): string {
  if (nextBillingDate) return nextBillingDate
  return dayOf(endOfDay(billingPeriodEndDate ?? '1970-01-01'))
}

function sumOf(lines: readonly Line[]): number {
  return lines.reduce((sum, { amount }) => sum + amount, 0)
}
