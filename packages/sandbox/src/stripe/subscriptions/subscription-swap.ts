import { checkSoldIn } from '../catalog/currency-options.ts'
import { redeemDiscounts } from '../catalog/redeem-discounts.ts'
import { requireTaxRates } from '../catalog/tax-rates.ts'
import { isMeteredPriceRow } from '../catalog/tiers.ts'
import type { PriceRow, SubscriptionItemRow, SubscriptionRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { createInvalidRequestFault, createNoSuchObjectFault } from '../wire/errors.ts'
import { mergeMetadata } from '../wire/fields.ts'
import { findPeriodAt, hasSameRecurrence } from '../wire/periods.ts'
import { computePeriodAmount, creditUnusedTime, debitRemainingTime } from './proration.ts'
import {
  checkActive,
  checkDuplicates,
  checkQuantity,
  createSubscriptionItem,
  findItemPrice,
  requireItemPrice,
  type SubscriptionItemParams,
} from './subscription-items.ts'
import { checkMixedIntervals, checkTrialEnd } from './subscription-params.ts'
import { billUsage, clearUsage, countUsageFromNow, isMeteredItem } from './usage.ts'

export interface ItemChangeOptions {
  readonly items: readonly SubscriptionItemParams[]
  readonly prorationBehavior: string
  readonly prorationDate?: number | undefined
  readonly resetAnchor: boolean
  readonly trialEnd?: 'now' | number | undefined
}

export interface ItemChanges {
  /** Whether the change creates an invoice that must be paid immediately. */
  readonly invoiceNow: boolean
  /** Subscription items whose new period is billed on the invoice of the change. */
  readonly billed: readonly SubscriptionItemRow[]
}

interface Change {
  readonly item: SubscriptionItemRow
  readonly kind: 'new' | 'changed' | 'deleted'
}

/**
 * Changes a subscription's items: swaps prices, changes quantities, adds and removes items, and
 * starts or ends a trial. Within a period, differences are prorated by the second. If the interval
 * changes, unused time is credited and a new period is billed immediately.
 */
export function changeItems(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  options: ItemChangeOptions,
): ItemChanges {
  const at = readProrationDate(work, subscription, options.prorationDate)
  const prorates = options.prorationBehavior !== 'none'
  const wasTrialing = subscription.status === 'trialing'
  const itemsBefore = listSubscriptionItems(work, subscription)
  const freeBefore = isFree(work, subscription, itemsBefore)
  const endsTrial = wasTrialing && options.trialEnd === 'now'
  const newTrialEnd = readTrialEnd(work, subscription, options.trialEnd)

  // Planned first, because credits are computed from the items before the change.
  const plan = planChanges(work, subscription, options.items)
  const pricesBefore = itemsBefore.map((item) => work.require('price', item.price))
  const prices = pricesAfter(work, itemsBefore, plan)
  checkMixedIntervals(subscription, prices)
  // No period starts during a trial: a new interval takes effect when the trial ends.
  const changesRhythm =
    !wasTrialing &&
    (plan.some((change) => change.changesInterval) || hasNewIntervals(pricesBefore, prices))
  const resets = options.resetAnchor || endsTrial || newTrialEnd !== null || changesRhythm
  const credited = new Set<string>()
  if (!wasTrialing) {
    for (const item of itemsBefore) {
      const changed = plan.some((change) => change.item?.id === item.id && change.changesAmount)
      if (!changed && !resets) continue
      if (billsUsageNow(work, subscription, item, { changed, prorates })) {
        billUsage(work, subscription, item)
      }
      if (!prorates) continue
      creditUnusedTime(work, subscription, item, at)
      credited.add(item.id)
    }
  }
  const changes = plan.map((change) => change.apply())
  const items = listSubscriptionItems(work, subscription)
  if (items.length === 0)
    throw createInvalidRequestFault('A subscription must have at least one item.', 'items')
  checkDuplicates(items.map((item) => item.price))
  const becomesPaid =
    !wasTrialing && freeBefore && !isFree(work, subscription, items) && itemsBefore.length > 0

  if (newTrialEnd !== null) return startTrial(work, subscription, items, newTrialEnd)
  if (endsTrial) endTrial(work, subscription)
  if (resets || becomesPaid) return restartPeriods(work, subscription, items)
  if (wasTrialing) return { invoiceNow: false, billed: [] }
  if (prorates) {
    for (const { item, kind } of changes) {
      if (kind === 'new' || (kind === 'changed' && credited.has(item.id))) {
        debitRemainingTime(work, subscription, item, at)
      }
    }
  }
  const prorated =
    prorates && (credited.size > 0 || changes.some((change) => change.kind === 'new'))
  return { invoiceNow: prorated && options.prorationBehavior === 'always_invoice', billed: [] }
}

/**
 * Whether to bill the usage of a metered item now. A removed or changed price is billed only in
 * flexible billing mode and with proration; a kept price is billed if its period is cut short.
 */
function billsUsageNow(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  item: SubscriptionItemRow,
  { changed, prorates }: { changed: boolean; prorates: boolean },
): boolean {
  if (!isMeteredItem(work, item)) return false
  return !changed || (prorates && subscription.billing_mode.type === 'flexible')
}

interface PlannedChange {
  readonly item: SubscriptionItemRow | null
  /** New price of the item. `null` if it is removed. */
  readonly price: PriceRow | null
  /** Whether the billed amount changes. */
  readonly changesAmount: boolean
  /** Whether the interval changes. */
  readonly changesInterval: boolean
  readonly apply: () => Change
}

function planChanges(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  items: readonly SubscriptionItemParams[],
): PlannedChange[] {
  return items.map((params, at) => {
    const path = `items[${at}]`
    if (params.id === undefined) return planNewItem(work, subscription, params, path)
    const item = work.find('subscription_item', params.id)
    if (!item || item.subscription !== subscription.id) {
      throw createNoSuchObjectFault('subscription_item', params.id, `${path}[id]`)
    }
    if (params.deleted) {
      clearUsage(work, item, params.clear_usage ?? false)
      return {
        item,
        price: null,
        changesAmount: true,
        changesInterval: false,
        apply: () => {
          work.remove('subscription_item', item)
          return { item, kind: 'deleted' }
        },
      }
    }
    return planChangedItem(work, subscription, item, params, path)
  })
}

/** Returns the prices after all changes. */
function pricesAfter(
  work: UnitOfWork,
  items: readonly SubscriptionItemRow[],
  plan: readonly PlannedChange[],
): PriceRow[] {
  const left = items.filter((item) => !plan.some((change) => change.item?.id === item.id))
  return [
    ...left.map((item) => work.require('price', item.price)),
    ...plan.flatMap(({ price }) => price ?? []),
  ]
}

/** Whether none of the previous intervals remains. */
function hasNewIntervals(before: readonly PriceRow[], after: readonly PriceRow[]): boolean {
  return after.every((price) =>
    before.every((old) => !hasSameRecurrence(old.recurring, price.recurring)),
  )
}

function planChangedItem(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  item: SubscriptionItemRow,
  params: SubscriptionItemParams,
  path: string,
): PlannedChange {
  const price = findItemPrice(work, params, path)
  const old = work.require('price', item.price)
  const swapped = price !== null && price.id !== item.price
  if (price && swapped) {
    checkActive(work, price, path)
    checkSoldIn(price, subscription.currency, `${path}[price]`)
  }
  checkQuantity(params.quantity, path, price ?? old)
  const requantified = params.quantity !== undefined && params.quantity !== (item.quantity ?? 1)
  return {
    item,
    price: price ?? old,
    changesAmount: swapped || requantified,
    changesInterval: swapped && !hasSameRecurrence(old.recurring, price?.recurring ?? null),
    apply: () => {
      work.edit('subscription_item', item)
      if (price) item.price = price.id
      setQuantity(item, price ?? old, params.quantity)
      if (swapped) countUsageFromNow(work, item)
      if (swapped && isMeteredPriceRow(price)) item.$.billed = null
      item.metadata = mergeMetadata(item.metadata, params.metadata)
      if (params.tax_rates !== undefined) {
        item.tax_rates = requireTaxRates(work, params.tax_rates, `${path}[tax_rates]`)
      }
      if (params.discounts !== undefined) {
        item.discounts = redeemDiscounts(work, params.discounts, {
          customer: work.require('customer', subscription.customer),
          subscriptionItem: item.id,
          currency: subscription.currency,
          bought: [{ price: item.price, quantity: item.quantity ?? 1 }],
        })
      }
      return { item, kind: 'changed' }
    },
  }
}

/** Sets the quantity of a subscription item. Metered items have none. */
export function setQuantity(
  item: SubscriptionItemRow,
  price: PriceRow,
  quantity: number | undefined,
): void {
  if (isMeteredPriceRow(price)) delete item.quantity
  else if (quantity !== undefined || item.quantity === undefined) item.quantity = quantity ?? 1
}

function planNewItem(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  params: SubscriptionItemParams,
  path: string,
): PlannedChange {
  const price = requireItemPrice(work, params, path)
  checkActive(work, price, path)
  checkSoldIn(price, subscription.currency, `${path}[price]`)
  return {
    item: null,
    price,
    changesAmount: true,
    changesInterval: false,
    apply: () => {
      const customer = work.require('customer', subscription.customer)
      const owner = { subscription: subscription.id, customer, currency: subscription.currency }
      return {
        item: createSubscriptionItem(
          work,
          owner,
          price,
          params,
          currentPeriod(work, subscription, price),
          path,
        ),
        kind: 'new',
      }
    },
  }
}

function currentPeriod(work: UnitOfWork, subscription: SubscriptionRow, price: PriceRow) {
  if (subscription.status === 'trialing' && subscription.trial_end) {
    return { start: work.now, end: subscription.trial_end }
  }
  if (!price.recurring) throw new TypeError('A subscription item needs a recurring price')
  return findPeriodAt(subscription.billing_cycle_anchor, price.recurring, work.now)
}

/** Starts a new period of all items now, to be billed immediately. */
function restartPeriods(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  items: readonly SubscriptionItemRow[],
): ItemChanges {
  subscription.billing_cycle_anchor = work.now
  for (const item of items) {
    const { recurring } = work.require('price', item.price)
    if (!recurring) continue
    const { start, end } = findPeriodAt(work.now, recurring, work.now)
    work.edit('subscription_item', item)
    item.current_period_start = start
    item.current_period_end = end
  }
  return { invoiceNow: true, billed: items }
}

function startTrial(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  items: readonly SubscriptionItemRow[],
  end: number,
): ItemChanges {
  const extended = subscription.status === 'trialing'
  if (!extended) subscription.trial_start = work.now
  subscription.status = 'trialing'
  subscription.trial_end = end
  subscription.billing_cycle_anchor = end
  subscription.$.trialNoticeSent = false
  for (const item of items) {
    work.edit('subscription_item', item)
    if (!extended) item.current_period_start = work.now
    item.current_period_end = end
    item.$.billed = null
  }
  return { invoiceNow: !extended, billed: extended ? [] : items }
}

function endTrial(work: UnitOfWork, subscription: SubscriptionRow): void {
  subscription.status = 'active'
  subscription.trial_end = work.now
  subscription.$.trialNoticeSent = true
}

/** Returns the new end of the trial. `null` if no trial is started or moved. */
function readTrialEnd(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  value: 'now' | number | undefined,
): number | null {
  if (value === undefined || value === 'now' || value === subscription.trial_end) return null
  return checkTrialEnd(work, value)
}

function readProrationDate(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  date: number | undefined,
): number {
  if (date === undefined) return work.now
  const items = listSubscriptionItems(work, subscription)
  const start = Math.min(...items.map((item) => item.current_period_start))
  const end = Math.max(...items.map((item) => item.current_period_end))
  if (date >= start && date <= end) return date
  throw createInvalidRequestFault(
    'Invalid proration_date: it must be within the current period of the subscription.',
    'proration_date',
  )
}

/** Whether all items are free. A metered price does not count as free, however low its usage. */
function isFree(
  work: UnitOfWork,
  { currency }: SubscriptionRow,
  items: readonly SubscriptionItemRow[],
): boolean {
  return items.every((item) => {
    const price = work.require('price', item.price)
    return (
      !isMeteredPriceRow(price) && computePeriodAmount(price, item.quantity ?? 1, currency) === 0
    )
  })
}

export function listSubscriptionItems(
  work: UnitOfWork,
  subscription: SubscriptionRow,
): SubscriptionItemRow[] {
  return work.findBy('subscription_item', 'subscription', subscription.id)
}
