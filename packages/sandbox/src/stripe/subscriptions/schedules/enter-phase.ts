import type { DiscountParam } from '../../catalog/redeem-discounts.ts'
import { addInvoiceItems } from '../../invoices/invoice-items.ts'
import { endDiscount } from '../../state/discounts.ts'
import type {
  PhaseItemRow,
  PhaseRow,
  ScheduleRow,
  SubscriptionItemRow,
  SubscriptionRow,
} from '../../state/rows.ts'
import { storeNextDueTime } from '../../state/subscription-status.ts'
import type { UnitOfWork } from '../../state/unit-of-work.ts'
import { hasSameRecurrence } from '../../wire/periods.ts'
import { createSubscriptionItem, type SubscriptionItemParams } from '../subscription-items.ts'
import { listSubscriptionItems, setQuantity } from '../subscription-swap.ts'
import { updateSubscription } from '../subscription-update.ts'
import { billUsage, countUsageFromNow, isMeteredItem } from '../usage.ts'
import { hasSameDiscounts, resolvePhaseDiscounts } from './phase-terms.ts'

/** Changes a subscription to the terms of a schedule's phase. */
export function applyPhase(
  work: UnitOfWork,
  schedule: ScheduleRow,
  subscription: SubscriptionRow,
  phase: PhaseRow,
  prorationBehavior: string = phase.proration_behavior,
): void {
  const current = listSubscriptionItems(work, subscription)
  const { items, removed } = matchItems(current, phase)
  // At the end of a period nothing is prorated, because the period was paid in full.
  const ending = current.every((item) => item.current_period_end <= work.now)
  const held = subscription.schedule
  work.edit('subscription', subscription).schedule = null
  applyTerms(work, schedule, subscription, phase)
  if (ending && phase.trial_end === null) {
    swapAtBoundary(work, subscription, phase, work.now)
  } else {
    updateSubscription(work, subscription, {
      items: [
        ...items.map(({ wanted, old }) => toParams(work, wanted, old)),
        ...removed.map(({ id }) => ({ id, deleted: true })),
      ],
      proration_behavior: prorationBehavior,
      ...(phase.trial_end === null ? {} : { trial_end: phase.trial_end }),
      ...(phase.billing_cycle_anchor === 'phase_start' && phase.start_date === work.now
        ? { billing_cycle_anchor: { type: 'now' } }
        : {}),
    } as never)
  }
  subscription.schedule = held
  storeNextDueTime(work, subscription)
}

/**
 * Applies the schedule's next phase to a subscription in a preview, if the phase starts with the
 * previewed invoice.
 */
export function previewPhase(work: UnitOfWork, subscription: SubscriptionRow, at: number): void {
  const schedule = work.find('subscription_schedule', subscription.schedule ?? '')
  const phase = schedule?.phases.find(({ start_date }) => start_date === at)
  if (!schedule || !phase || phase.trial_end !== null) return
  work.edit('subscription', subscription)
  addInvoiceItems(work, subscription, toAddedItemsParam(phase))
  applyTerms(work, schedule, subscription, phase)
  swapAtBoundary(work, subscription, phase, at)
}

/** Whether the subscription differs from the terms of a schedule's phase. */
export function differsFromPhase(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  phase: PhaseRow,
): boolean {
  const present = listSubscriptionItems(work, subscription)
  const hasTrial = phase.trial_end !== null && subscription.status === 'trialing'
  return (
    present.length !== phase.items.length ||
    phase.items.some((wanted) => {
      const item = present.find((each) => each.price === wanted.price)
      return (
        !item ||
        (item.quantity ?? 1) !== (wanted.quantity ?? 1) ||
        !sameIds(item.tax_rates, wanted.tax_rates) ||
        !hasSameDiscounts(work, item.discounts, wanted.discounts)
      )
    }) ||
    !sameIds(subscription.default_tax_rates, phase.default_tax_rates) ||
    !hasSameDiscounts(work, subscription.discounts, phase.discounts) ||
    (phase.automatic_tax?.enabled ?? subscription.automatic_tax.enabled) !==
      subscription.automatic_tax.enabled ||
    (hasTrial && phase.trial_end !== subscription.trial_end)
  )
}

/**
 * Applies the terms of a phase except its prices. Removes tax rates and discounts that the phase
 * does not name.
 */
function applyTerms(
  work: UnitOfWork,
  schedule: ScheduleRow,
  subscription: SubscriptionRow,
  phase: PhaseRow,
): void {
  const customer = work.require('customer', subscription.customer)
  const { id, currency, discounts: before } = subscription
  subscription.default_tax_rates = [...phase.default_tax_rates]
  if (phase.automatic_tax) subscription.automatic_tax = { ...phase.automatic_tax }
  subscription.discounts = resolvePhaseDiscounts(work, phase.discounts, before, {
    ...{ customer, currency, subscription: id },
    bought: phase.items.map(({ price, quantity = 1 }) => ({ price, quantity })),
  })
  for (const old of before) if (!subscription.discounts.includes(old)) endDiscount(work, old)
  const wanted = phase.default_payment_method ?? schedule.default_settings.default_payment_method
  const method = work.find('payment_method', wanted ?? '')
  // A payment method that was detached in the meantime is ignored.
  if (method?.customer === customer.id) subscription.default_payment_method = method.id
  if (phase.description !== null) subscription.description = phase.description
  const metadata = Object.entries({ ...subscription.metadata, ...phase.metadata })
  subscription.metadata = Object.fromEntries(metadata.filter(([, value]) => value !== ''))
}

interface Items {
  readonly items: ReadonlyArray<{
    readonly wanted: PhaseItemRow
    readonly old: SubscriptionItemRow | undefined
  }>
  readonly removed: readonly SubscriptionItemRow[]
}

/**
 * Matches the items of a phase with the present ones. A new price takes the place of a removed one.
 */
function matchItems(current: readonly SubscriptionItemRow[], phase: PhaseRow): Items {
  const going = current.filter(({ price }) => phase.items.every((item) => item.price !== price))
  const items = phase.items.map((wanted) => ({
    wanted,
    old: current.find(({ price }) => price === wanted.price) ?? going.shift(),
  }))
  return { items, removed: going }
}

/** Swaps prices at the end of a period. The renewal that is due then bills the new prices. */
function swapAtBoundary(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  phase: PhaseRow,
  at: number,
): void {
  const { items, removed } = matchItems(listSubscriptionItems(work, subscription), phase)
  const isFlexible = subscription.billing_mode.type === 'flexible'
  const customer = work.require('customer', subscription.customer)
  const { currency } = subscription
  const owner = { subscription: subscription.id, customer, currency }
  const now = { start: at, end: at }
  const recurrence = recurrenceOf(work, items[0]?.old?.price)
  for (const item of removed) {
    if (isFlexible && isMeteredItem(work, item)) billUsage(work, subscription, item)
    work.remove('subscription_item', item)
  }
  for (const { wanted, old } of items) {
    const price = work.require('price', wanted.price)
    if (!old) {
      createSubscriptionItem(work, owner, price, toParams(work, wanted, undefined), now, 'items')
      continue
    }
    const goes = old.price !== price.id
    // The renewal bills the usage of the remaining items.
    if (goes && isFlexible && isMeteredItem(work, old)) billUsage(work, subscription, old)
    work.edit('subscription_item', old)
    old.price = price.id
    setQuantity(old, price, wanted.quantity ?? 1)
    old.tax_rates = [...wanted.tax_rates]
    old.discounts = resolvePhaseDiscounts(work, wanted.discounts, old.discounts, {
      ...{ customer, currency, subscriptionItem: old.id },
    })
    if (goes) countUsageFromNow(work, old)
  }
  const isOther = !hasSameRecurrence(recurrence, recurrenceOf(work, phase.items[0]?.price))
  // By default, the anchor moves when the interval changes.
  if (isOther || phase.billing_cycle_anchor === 'phase_start')
    subscription.billing_cycle_anchor = at
}

function recurrenceOf(work: UnitOfWork, price: string | undefined) {
  return work.find('price', price ?? '')?.recurring ?? null
}

export function toParams(
  work: UnitOfWork,
  { price, quantity, tax_rates: rates, discounts, metadata }: PhaseItemRow,
  old: SubscriptionItemRow | undefined,
): SubscriptionItemParams {
  const isDiscounted = !hasSameDiscounts(work, old?.discounts ?? [], discounts)
  return {
    ...(old ? { id: old.id } : {}),
    price,
    ...(quantity === undefined ? {} : { quantity }),
    ...(old && sameIds(old.tax_rates, rates) ? {} : { tax_rates: rates.length > 0 ? rates : '' }),
    ...(isDiscounted ? { discounts: discounts.map(toDiscountParam) } : {}),
    ...(metadata && Object.keys(metadata).length > 0 ? { metadata } : {}),
  }
}

/** Returns the one-time items of a schedule's phase, as the parameter `add_invoice_items`. */
export function toAddedItemsParam({ add_invoice_items: items }: PhaseRow) {
  return items.map(({ price, quantity, discounts, metadata, tax_rates }) => ({
    price,
    quantity: quantity ?? 1,
    discounts: discounts.map(toDiscountParam),
    metadata: metadata ?? {},
    tax_rates,
  }))
}

/**
 * Converts a discount of a schedule's phase (an existing discount, promotion code or coupon) to a
 * discount parameter.
 */
export function toDiscountParam({
  coupon,
  discount,
  promotion_code,
}: PhaseRow['discounts'][number]): DiscountParam {
  if (discount) return { discount }
  return promotion_code ? { promotion_code } : { coupon: coupon ?? '' }
}

function sameIds(a: readonly string[], b: readonly string[]): boolean {
  return [...a].sort().join() === [...b].sort().join()
}
