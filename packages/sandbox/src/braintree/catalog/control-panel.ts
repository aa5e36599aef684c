import {
  type BraintreeContext,
  readMerchantSettings,
  requireDefaultMerchantAccount,
} from '../state/context.ts'
import type { SettingsRow } from '../state/rows/merchant.ts'
import type { ModificationRow, PlanRow } from '../state/rows/subscriptions.ts'
import { isValidId } from '../wire/validation.ts'

/** A plan as it is created in Braintree's control panel. Amounts are in minor units. */
export interface PlanDefinition {
  /** Id of the plan: letters, digits, `-` and `_`. */
  readonly id: string
  /** Price of a billing cycle in minor units. */
  readonly price: number
  /** Name of the plan. Defaults to the id. */
  readonly name?: string
  /** Description of the plan. */
  readonly description?: string
  /** Currency of the plan. Defaults to the currency of the default merchant account. */
  readonly currency?: string
  /** Months between billing dates. @default 1 */
  readonly billingFrequency?: number
  /**
   * Day of the month on which subscriptions are billed: 1–28, or 31 for the last day of the month.
   * By default, the day on which the subscription starts.
   */
  readonly billingDayOfMonth?: number
  /**
   * Number of billing cycles after which subscriptions expire. By default they renew until they are
   * canceled.
   */
  readonly numberOfBillingCycles?: number
  /** Trial with which new subscriptions start. Without a trial, they are billed immediately. */
  readonly trial?: PlanTrial
  /**
   * Ids of the add-ons that every new subscription of the plan inherits. The add-ons must be
   * defined before the plan.
   */
  readonly addOns?: readonly string[]
  /**
   * Ids of the discounts that every new subscription of the plan inherits. The discounts must be
   * defined before the plan.
   */
  readonly discounts?: readonly string[]
}

/** Length of the trial of a plan's subscriptions. */
export interface PlanTrial {
  /** Length of the trial, in the unit given by `unit`. */
  readonly duration: number
  /** Unit of `duration`: days or calendar months. */
  readonly unit: 'day' | 'month'
}

/** An add-on or discount as it is created in Braintree's control panel. */
export interface ModificationDefinition {
  /**
   * Id of the add-on or discount: letters, digits, `-` and `_`. An add-on and a discount cannot
   * have the same id.
   */
  readonly id: string
  /** Amount per billing cycle in minor units. Also positive for a discount. */
  readonly amount: number
  /** Name of the add-on or discount. Defaults to the id. */
  readonly name?: string
  /** Description of the add-on or discount. */
  readonly description?: string
  /** Currency of the amount. Defaults to the currency of the default merchant account. */
  readonly currency?: string
  /**
   * Number of billing cycles to which the add-on or discount applies. By default it applies to all
   * of them.
   */
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
    throw new TypeError('billingDayOfMonth must be 1 to 28, or 31 for the last day of the month')
  }
  const frequency = plan.billingFrequency ?? 1
  if (!Number.isInteger(frequency) || frequency < 1) {
    throw new TypeError('billingFrequency must be a whole number of months, at least 1')
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
  modificationDefinition: ModificationDefinition,
): ModificationRow {
  requireId(modificationDefinition.id)
  const now = context.clock.nowMs()
  const row: ModificationRow = {
    id: modificationDefinition.id,
    kind,
    name: modificationDefinition.name ?? modificationDefinition.id,
    description: modificationDefinition.description ?? null,
    amount: requireMinorUnits(modificationDefinition.amount),
    currency: modificationDefinition.currency ?? requireDefaultMerchantAccount(context).currency,
    numberOfBillingCycles: modificationDefinition.numberOfBillingCycles ?? null,
    neverExpires: modificationDefinition.numberOfBillingCycles === undefined,
    createdAt: context.tables.modifications.get(modificationDefinition.id)?.createdAt ?? now,
    updatedAt: now,
  }
  context.tables.modifications.set(row.id, row)
  return row
}

function requireMinorUnits(amount: number): number {
  if (Number.isSafeInteger(amount) && amount >= 0) return amount
  throw new TypeError('Amounts must be whole minor units, such as cents, and not negative')
}

/** Checks an id. Ids are part of URL paths, so they consist of letters, digits, `-` and `_`. */
function requireId(id: string): void {
  if (!isValidId(id))
    throw new TypeError(`${id} is not a valid Braintree id: expected letters, digits, - and _`)
}

export function changeSettings(context: BraintreeContext, changes: Partial<SettingsRow>): void {
  const settings = { ...readMerchantSettings(context), ...changes }
  const { retryAfterDays, customFields, duplicateWindowSeconds, challenges } = settings
  const isDay = (days: number) => Number.isInteger(days) && days >= 1 && days <= 10
  if (retryAfterDays.length > 2 || !retryAfterDays.every(isDay)) {
    throw new TypeError(
      'retryAfterDays must be at most two whole numbers of days, each from 1 to 10',
    )
  }
  if (!customFields.every((name) => /^[a-z_][a-z0-9_]*$/.test(name))) {
    throw new TypeError(
      'customFields must be API names: lowercase letters, digits and _, not beginning with a digit',
    )
  }
  if (!(duplicateWindowSeconds >= 0))
    throw new TypeError('duplicateWindowSeconds must be a number of seconds, 0 or more')
  if (!challenges.every((name) => name === 'cvv' || name === 'postal_code')) {
    throw new TypeError('challenges must be `cvv` or `postal_code`')
  }
  context.tables.settings.set('merchant', settings)
}
