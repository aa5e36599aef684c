import {
  type CatalogPrice,
  money,
  type ProviderName,
  type Subscription,
  type SwapItem,
} from '@tollgate/billing'
import { can, isSoldAt, listAdditionalPrices } from '../../../config/plan-capabilities.ts'
import { MAX_QUANTITY } from '../../../config/plans.ts'
import type { Plan, Settings } from '../../../config/settings.ts'
import { ENGLISH, formatAmount, type PageText } from '../../../messages/messages.ts'
import type { CountedQuantities } from '../../../plans/seats.ts'
import { BadChoice } from './problems.ts'

export function findPlan(plans: readonly Plan[], id: string | null | undefined): Plan | null {
  return plans.find((plan) => plan.id === id) ?? null
}

/** Lists the plans that the provider can sell. */
export function listPlansAtProvider(plans: readonly Plan[], provider: ProviderName): Plan[] {
  return plans.filter((plan) => isSoldAt(plan, provider))
}

/** A plan that is sold at a provider, with its price id there. */
export interface SoldPlan {
  readonly plan: Plan
  readonly price: string
}

/**
 * Finds a plan that the provider can sell.
 * @throws BadChoice if there is no such plan.
 */
export function requireSoldPlan(
  plans: readonly Plan[],
  id: string | null | undefined,
  provider: ProviderName,
): SoldPlan {
  const plan = findPlan(listPlansAtProvider(plans, provider), id)
  const price = plan?.[provider] ?? null
  if (plan === null || price === null) throw new BadChoice('problem.choosePlan')
  return { plan, price }
}

/** Groups plans that differ only in their billing interval, in the order of the settings. */
export function groupPlans(plans: readonly Plan[]): ReadonlyArray<readonly [Plan, ...Plan[]]> {
  const groups = new Map<string, [Plan, ...Plan[]]>()
  for (const plan of plans) {
    const group = groups.get(plan.plan)
    if (group) group.push(plan)
    else groups.set(plan.plan, [plan])
  }
  return [...groups.values()]
}

/** Formats the price of a billing period for the given quantity, such as `$30.00`. */
export function formatTotal(
  { amount }: Pick<Plan, 'amount'>,
  quantity: number,
  { currency }: Pick<Settings, 'currency'>,
  t: PageText = ENGLISH,
): string {
  return formatAmount(money(amount * quantity, currency), t)
}

/** Describes the billing interval: `per month`, `per year` or `every 3 months`. */
export function formatInterval({ months }: Pick<Plan, 'months'>, t: PageText = ENGLISH): string {
  return formatPeriod({ unit: 'month', count: months }, t)
}

/** Describes a billing period as an interval, such as `per week` or `every 3 months`. */
export function formatPeriod({ unit, count }: CatalogPrice['period'], t: PageText): string {
  if (count === 1) return t(`rhythm.${unit}`)
  if (unit === 'month' && count === 12) return t('rhythm.year')
  return t('rhythm.every', { period: formatUnits(count, unit, t) })
}

/** Formats a number of time units, such as `14 days`. */
export function formatUnits(
  count: number,
  unit: CatalogPrice['period']['unit'],
  { locale }: PageText,
): string {
  const style = { style: 'unit', unit, unitDisplay: 'long' } as const
  return new Intl.NumberFormat(locale, style).format(count)
}

type HeldSubscription = Pick<Subscription, 'provider' | 'quantity'>

/**
 * Returns the quantity of a plan: the counted one, or the wanted one within the limits of the plan.
 * A provider without quantities keeps its own.
 */
export function computeQuantityOnPlan(
  { id, seats }: Plan,
  { provider, quantity }: HeldSubscription,
  counted: CountedQuantities = new Map(),
): number {
  if (!can(provider, 'quantities')) return quantity
  return counted.get(id) ?? Math.min(Math.max(quantity, seats.min), seats.max)
}

/** The quantities that a person may choose. */
export interface QuantityChoice {
  readonly min: number
  readonly max: number
}

/** Returns the quantities of a plan. `null` if the person cannot choose one. */
export function getSeatsChoice({ seats }: Plan, provider: ProviderName): QuantityChoice | null {
  const isChosen = seats.count === null && seats.min < seats.max
  return isChosen && can(provider, 'quantities') ? seats : null
}

/**
 * Returns the quantities that a person may choose for a subscription. `null` if it cannot be
 * changed. If the quantity of the plan is fixed or counted, a person who has another one can only
 * change to it. A plan that is no longer offered may have had seats.
 */
export function getQuantityChoice(
  plan: Plan | null,
  held: HeldSubscription,
  counted: CountedQuantities = new Map(),
): QuantityChoice | null {
  const { provider, quantity } = held
  if (!can(provider, 'quantities')) return null
  if (plan === null) return quantity === 1 ? null : { min: 1, max: MAX_QUANTITY }
  const choice = getSeatsChoice(plan, provider)
  if (choice || plan.meter !== null) return choice
  const due = computeQuantityOnPlan(plan, held, counted)
  return due === quantity ? null : { min: due, max: due }
}

/**
 * Parses a quantity.
 * @throws BadChoice if it is not one of the choices.
 */
export function parseQuantity(text: string, { min, max }: QuantityChoice): number {
  const quantity = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (quantity >= min && quantity <= max) return quantity
  throw new BadChoice(min === max ? 'problem.oneQuantity' : 'problem.quantity', { min, max })
}

/** A change to another plan. */
export interface PlanChange extends SoldPlan {
  readonly subscription: Subscription
  /** The present plan. `null` if it is no longer offered. */
  readonly old: Plan | null
  /** The new quantity. */
  readonly quantity: number
}

/**
 * Describes the change of a subscription to another plan. `plan` is its present one.
 * @throws BadChoice if the provider cannot sell the new plan.
 */
export function describePlanChange(
  id: string | null,
  subscription: Subscription,
  present: {
    readonly plans: readonly Plan[]
    readonly plan: Plan | null
    readonly counted: CountedQuantities
  },
): PlanChange {
  const sold = requireSoldPlan(present.plans, id, subscription.provider)
  const quantity = computeQuantityOnPlan(sold.plan, subscription, present.counted)
  return { ...sold, subscription, old: present.plan, quantity }
}

/**
 * Returns the argument for `swap()` that changes a subscription to the plan. Prices of the
 * subscription that belong to neither plan stay.
 */
export function createSwapTarget(change: PlanChange): string | SwapItem[] {
  const { plan, price, subscription, old, quantity } = change
  const { provider } = subscription
  const added = listAdditionalItems(plan, provider)
  const removed = old === null ? [] : listAdditionalItems(old, provider).map((item) => item.price)
  const changesItems = added.length > 0 || removed.length > 0 || plan.meter !== null
  if (!changesItems && quantity === subscription.quantity) return price
  const ours = new Set([price, ...removed, ...added.map((item) => item.price)])
  const others = subscription.items().filter((item) => !item.isMain && !ours.has(item.price))
  return [
    { price, quantity: plan.meter === null ? quantity : null },
    ...added,
    ...others.map((item) => ({ price: item.price, quantity: item.quantity })),
  ]
}

/** Lists the additional prices of a plan as items of a subscription. */
export function listAdditionalItems(plan: Plan, provider: ProviderName): Required<SwapItem>[] {
  return listAdditionalPrices(plan, provider).flatMap(({ meter, [provider]: price }) =>
    price === null ? [] : [{ price, quantity: meter === null ? 1 : null }],
  )
}

/**
 * Returns the length of the trial in days: 0 if an earlier subscription of the person had a trial.
 */
export function computeTrialDays(
  plan: Plan,
  earlierSubscriptions: readonly Pick<Subscription, 'trialEndsAt'>[],
): number {
  return earlierSubscriptions.some(({ trialEndsAt }) => trialEndsAt !== null) ? 0 : plan.trialDays
}

/** How long a preview is valid, in milliseconds. Its amounts depend on the time it was made for. */
const PREVIEW_LIFETIME = 15 * 60_000

/**
 * Parses the time at which the preview of a plan change was calculated, as sent back by the form.
 * `null` if it is more than 15 minutes old or in the future, which could credit unused days twice.
 */
export function parseProrationDate(value: string | null, now: Date): Date | null {
  if (value === null || !/^\d{1,15}$/.test(value)) return null
  const at = Number(value)
  const age = now.getTime() - at
  return age >= 0 && age <= PREVIEW_LIFETIME ? new Date(at) : null
}
