import type { AppliedModification, SubscriptionRow } from './rows/subscriptions.ts'

/** Whether the add-on or discount has cycles left to count in. */
export function hasCyclesLeft(applied: AppliedModification): boolean {
  return applied.neverExpires || applied.currentBillingCycle < (applied.numberOfBillingCycles ?? 0)
}

function sum(rows: readonly AppliedModification[]): number {
  return rows.reduce((total, row) => total + row.amount * row.quantity, 0)
}

/** Price and add-ons less discounts of the cycle that comes next, without the balance. */
export function amountOfNextCycle(row: SubscriptionRow): number {
  return (
    row.price + sum(row.addOns.filter(hasCyclesLeft)) - sum(row.discounts.filter(hasCyclesLeft))
  )
}

/** Whether it is in the price of the running cycle, and not used up or for later. */
export function countedNow(row: SubscriptionRow, applied: AppliedModification): boolean {
  return applied.countedInCycle === row.currentBillingCycle
}

/** The same for the cycle that runs now: what has counted in it. */
export function amountOfCurrentCycle(row: SubscriptionRow): number {
  const counted = (applied: AppliedModification) => countedNow(row, applied)
  return row.price + sum(row.addOns.filter(counted)) - sum(row.discounts.filter(counted))
}

/** Counts the running cycle for those that have one left. */
export function countCycle(row: SubscriptionRow, applied: readonly AppliedModification[]): void {
  for (const one of applied) {
    if (!hasCyclesLeft(one) || one.countedInCycle === row.currentBillingCycle) continue
    one.currentBillingCycle += 1
    one.countedInCycle = row.currentBillingCycle
  }
}
