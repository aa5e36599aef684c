import type { AppliedModification, SubscriptionRow } from './tables.ts'

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

/** The same for the cycle that runs now: what has counted in it. */
export function amountOfCurrentCycle(row: SubscriptionRow): number {
  const counted = (applied: AppliedModification) =>
    applied.countedInCycle === row.currentBillingCycle
  return row.price + sum(row.addOns.filter(counted)) - sum(row.discounts.filter(counted))
}

/** Counts one cycle of every add-on and discount that has one left. */
export function countCycle(row: SubscriptionRow): void {
  for (const applied of [...row.addOns, ...row.discounts]) {
    if (!hasCyclesLeft(applied) || applied.countedInCycle === row.currentBillingCycle) continue
    applied.currentBillingCycle += 1
    applied.countedInCycle = row.currentBillingCycle
  }
}
