import type { AppliedModification, SubscriptionRow } from './rows/subscriptions.ts'

/** Whether an add-on or discount of a subscription applies to further billing cycles. */
export function hasCyclesLeft(applied: AppliedModification): boolean {
  return applied.neverExpires || applied.currentBillingCycle < (applied.numberOfBillingCycles ?? 0)
}

function sum(rows: readonly AppliedModification[]): number {
  return rows.reduce((total, row) => total + row.amount * row.quantity, 0)
}

/**
 * Returns the amount of the next billing cycle in minor units: price plus add-ons less discounts,
 * without the balance.
 */
export function computeNextCycleAmount(row: SubscriptionRow): number {
  return (
    row.price + sum(row.addOns.filter(hasCyclesLeft)) - sum(row.discounts.filter(hasCyclesLeft))
  )
}

/** Whether an add-on or discount of a subscription applies to the current billing cycle. */
export function appliesToCurrentCycle(row: SubscriptionRow, applied: AppliedModification): boolean {
  return applied.countedInCycle === row.currentBillingCycle
}

/**
 * Returns the amount of the current billing cycle in minor units: price plus add-ons less the
 * discounts that apply to the cycle.
 */
export function computeCurrentCycleAmount(row: SubscriptionRow): number {
  const counted = (applied: AppliedModification) => appliesToCurrentCycle(row, applied)
  return row.price + sum(row.addOns.filter(counted)) - sum(row.discounts.filter(counted))
}

/**
 * Counts the current billing cycle for each add-on or discount that still applies, so that add-ons
 * and discounts with a limited number of cycles end.
 */
export function countModificationCycle(
  row: SubscriptionRow,
  applied: readonly AppliedModification[],
): void {
  for (const one of applied) {
    if (!hasCyclesLeft(one) || one.countedInCycle === row.currentBillingCycle) continue
    one.currentBillingCycle += 1
    one.countedInCycle = row.currentBillingCycle
  }
}
