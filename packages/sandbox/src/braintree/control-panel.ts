import { type BraintreeContext, requireDefaultMerchantAccount } from './context.ts'
import type { ModificationRow, PlanRow } from './tables.ts'

/** A plan as the control panel would define it; amounts in minor units. */
export interface PlanDefinition {
  readonly id: string
  readonly price: number
  readonly name?: string
  readonly description?: string
  /** Defaults to the merchant's own currency. */
  readonly currency?: string
  /** In months. */
  readonly billingFrequency?: number
  /** 1–28, or 31 for the last day of the month. */
  readonly billingDayOfMonth?: number
  readonly numberOfBillingCycles?: number
  readonly trial?: { readonly duration: number; readonly unit: 'day' | 'month' }
  readonly addOns?: readonly string[]
  readonly discounts?: readonly string[]
}

export interface ModificationDefinition {
  readonly id: string
  readonly amount: number
  readonly name?: string
  readonly description?: string
  readonly currency?: string
  /** Without it the add-on or discount never expires. */
  readonly numberOfBillingCycles?: number
}

export function definePlan(context: BraintreeContext, plan: PlanDefinition): PlanRow {
  const { plans, modifications } = context.tables
  const now = context.clock.nowMs()
  for (const id of [...(plan.addOns ?? []), ...(plan.discounts ?? [])]) {
    if (!modifications.has(id)) throw new TypeError(`There is no add-on or discount ${id}`)
  }
  const frequency = plan.billingFrequency ?? 1
  if (!Number.isInteger(frequency) || frequency < 1) {
    throw new TypeError('A plan is billed every so many whole months')
  }
  const row: PlanRow = {
    id: plan.id,
    name: plan.name ?? plan.id,
    description: plan.description ?? null,
    price: requireMinorUnits(plan.price),
    currency: plan.currency ?? requireDefaultMerchantAccount(context).currency,
    billingFrequency: frequency,
    billingDayOfMonth: plan.billingDayOfMonth ?? null,
    numberOfBillingCycles: plan.numberOfBillingCycles ?? null,
    trialPeriod: plan.trial !== undefined,
    trialDuration: plan.trial?.duration ?? null,
    trialDurationUnit: plan.trial?.unit ?? null,
    addOnIds: [...(plan.addOns ?? [])],
    discountIds: [...(plan.discounts ?? [])],
    createdAt: plans.get(plan.id)?.createdAt ?? now,
    updatedAt: now,
  }
  plans.set(row.id, row)
  return row
}

export function defineModification(
  context: BraintreeContext,
  kind: ModificationRow['kind'],
  given: ModificationDefinition,
): ModificationRow {
  const now = context.clock.nowMs()
  const row: ModificationRow = {
    id: given.id,
    kind,
    name: given.name ?? given.id,
    description: given.description ?? null,
    amount: requireMinorUnits(given.amount),
    currency: given.currency ?? requireDefaultMerchantAccount(context).currency,
    numberOfBillingCycles: given.numberOfBillingCycles ?? null,
    neverExpires: given.numberOfBillingCycles === undefined,
    createdAt: context.tables.modifications.get(given.id)?.createdAt ?? now,
    updatedAt: now,
  }
  context.tables.modifications.set(row.id, row)
  return row
}

function requireMinorUnits(amount: number): number {
  if (Number.isSafeInteger(amount) && amount >= 0) return amount
  throw new TypeError('Amounts are whole minor units, such as cents')
}
