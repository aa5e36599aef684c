import {
  type BraintreeContext,
  requireDefaultMerchantAccount,
  settingsOf,
} from '../state/context.ts'
import type { SettingsRow } from '../state/rows/merchant.ts'
import type { ModificationRow, PlanRow } from '../state/rows/subscriptions.ts'
import { isId } from '../wire/validation.ts'

/** A plan as the control panel would define it; amounts in minor units. */
export interface PlanDefinition {
  /** Letters, digits, `-` and `_`. */
  readonly id: string
  /** Minor units for each cycle. */
  readonly price: number
  /** The id unless told. */
  readonly name?: string
  /** For people. */
  readonly description?: string
  /** Defaults to the merchant's own currency. */
  readonly currency?: string
  /** Months from one cycle to the next; 1 unless told. */
  readonly billingFrequency?: number
  /** 1–28, or 31 for the last day of the month. */
  readonly billingDayOfMonth?: number
  /** Without it subscriptions go on until they are canceled. */
  readonly numberOfBillingCycles?: number
  /** How subscriptions begin; without it they are billed at once. */
  readonly trial?: PlanTrial
  /** Ids of add-ons that every subscription inherits; they must be defined first. */
  readonly addOns?: readonly string[]
  /** Ids of discounts that every subscription inherits; they must be defined first. */
  readonly discounts?: readonly string[]
}

/** The trial a plan's subscriptions begin with. */
export interface PlanTrial {
  /** How many units. */
  readonly duration: number
  /** Months follow the calendar. */
  readonly unit: 'day' | 'month'
}

/** An add-on or a discount as the control panel would define it. */
export interface ModificationDefinition {
  /** Letters, digits, `-` and `_`; one id for both kinds. */
  readonly id: string
  /** Minor units for each cycle; positive also for a discount. */
  readonly amount: number
  /** The id unless told. */
  readonly name?: string
  /** For people. */
  readonly description?: string
  /** Defaults to the merchant's own currency. */
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
  requireId(plan.id)
  const day = plan.billingDayOfMonth
  if (day !== undefined && day !== 31 && !(day >= 1 && day <= 28)) {
    throw new TypeError('The billing day is 1 to 28, or 31 for the last of the month')
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
  requireId(given.id)
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

/** Ids travel in paths, so they are made of letters, digits, `-` and `_`. */
function requireId(id: string): void {
  if (!isId(id)) throw new TypeError(`${id} is no id Braintree would accept`)
}

export function changeSettings(context: BraintreeContext, changes: Partial<SettingsRow>): void {
  const settings = { ...settingsOf(context), ...changes }
  const { retryAfterDays, customFields, duplicateWindowSeconds, challenges } = settings
  const isDay = (days: number) => Number.isInteger(days) && days >= 1 && days <= 10
  if (retryAfterDays.length > 2 || !retryAfterDays.every(isDay)) {
    throw new TypeError('Braintree retries up to two times, each after 1 to 10 days')
  }
  if (!customFields.every((name) => /^[a-z_][a-z0-9_]*$/.test(name))) {
    throw new TypeError('API names of custom fields are lower case letters, digits and _')
  }
  if (!(duplicateWindowSeconds >= 0)) throw new TypeError('The duplicate window is in seconds')
  if (!challenges.every((name) => name === 'cvv' || name === 'postal_code')) {
    throw new TypeError('Rules check `cvv` and `postal_code`')
  }
  context.tables.settings.set('merchant', settings)
}
