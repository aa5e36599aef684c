import type { AppliedModification, SubscriptionRow } from './rows/subscriptions.ts'

/** Whether the add-on or discount applies to further cycles. */
export function hasCyclesLeft(applied: AppliedModification): boolean {
  return applied.neverExpires || applied.currentBillingCycle < (applied.numberOfBillingCycles ?? 0)
}

function sum(rows: readonly AppliedModification[]): number {
  return rows.reduce((total, row) => total + row.amount * row.quantity, 0)
}

/** Returns the amount of the next cycle: price plus add-ons less discounts, without the balance. */
export function amountOfNextCycle(row: SubscriptionRow): number {
  return (
    row.price + sum(row.addOns.filter(hasCyclesLeft)) - sum(row.discounts.filter(hasCyclesLeft))
  )
}

/** Whether the add-on or discount applies to the current cycle. */
export function appliesToCurrentCycle(row: SubscriptionRow, applied: AppliedModification): boolean {
  return applied.countedInCycle === row.currentBillingCycle
}

/** Returns the amount of the current cycle: price plus add-ons less discounts that apply to it. */
export function amountOfCurrentCycle(row: SubscriptionRow): number {
  const counted = (applied: AppliedModification) => appliesToCurrentCycle(row, applied)
  return row.price + sum(row.addOns.filter(counted)) - sum(row.discounts.filter(counted))
}

/** Counts the current cycle for the add-ons or discounts that still apply. */
export function countCycle(row: SubscriptionRow, applied: readonly AppliedModification[]): void {
  for (const one of applied) {
    if (!hasCyclesLeft(one) || one.countedInCycle === row.currentBillingCycle) continue
    one.currentBillingCycle += 1
    one.countedInCycle = row.currentBillingCycle
  }
}
