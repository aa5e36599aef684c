import type Stripe from 'stripe'
import { applyChanges, changesBetween, type RowChanges } from '../../core/row-changes.ts'
import { copyJson } from '../../core/store/copy-json.ts'
import { render } from './render.ts'
import type { SubscriptionItemRow, SubscriptionRow } from './rows.ts'
import type { UnitOfWork } from './unit-of-work.ts'

const LONGEST = 23 * 3600

/** What it changes, and nothing else: coupons, taxes and pauses may change while it waits. */
interface HeldUpdate {
  readonly invoice: string
  readonly subscription: RowChanges
  readonly items: Readonly<Record<string, RowChanges>>
  readonly added: readonly SubscriptionItemRow[]
  readonly removed: readonly string[]
}

/** A subscription and its items as they were before an update that may have to wait. */
export interface Before {
  readonly subscription: string
  readonly items: string
}

export function rememberBefore(work: UnitOfWork, subscription: SubscriptionRow): Before {
  const items = work.findBy('subscription_item', 'subscription', subscription.id)
  return { subscription: JSON.stringify(subscription), items: JSON.stringify(items) }
}

/** What of an update is shown while it is held back. */
type Shown = Pick<Stripe.SubscriptionUpdateParams, 'cancel_at_period_end' | 'metadata'>

/** The payment did not go through: the update is held back until it does, for 23 hours or until the period is over. */
export function holdUpdate(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  before: Before,
  invoiceId: string,
  params: Shown,
): void {
  const items = work.findBy('subscription_item', 'subscription', subscription.id)
  const oldItems = JSON.parse(before.items) as SubscriptionItemRow[]
  const changed = items
    .filter((item) => !oldItems.some((old) => isSame(old, item)))
    .map((item) => copyJson(render('subscription_item', item, work.tables)))
  const old = JSON.parse(before.subscription) as SubscriptionRow
  const held = describeUpdate(invoiceId, [old, subscription], [oldItems, items])
  const { billing_cycle_anchor: anchor, trial_end: trialEnd } = subscription
  replaceFields(subscription, old)
  subscription.latest_invoice = invoiceId
  replaceItems(work, subscription.id, oldItems)
  subscription.$.pendingUpdateParams = JSON.stringify(held)
  subscription.pending_update = {
    billing_cycle_anchor: anchor,
    cancel_at_period_end: params.cancel_at_period_end ?? null,
    discount: null,
    discounts: null,
    expires_at: Math.min(
      work.now + LONGEST,
      ...oldItems.map(({ current_period_end }) => current_period_end),
    ),
    metadata: params.metadata ? (params.metadata as Stripe.Metadata) : null,
    subscription_items: changed.length > 0 ? (changed as unknown as never) : null,
    trial_end: trialEnd,
    trial_from_plan: null,
  }
}

type Versions<T> = readonly [old: T, now: T]

function describeUpdate(
  invoice: string,
  [old, now]: Versions<SubscriptionRow>,
  [oldItems, items]: Versions<readonly SubscriptionItemRow[]>,
): HeldUpdate {
  const kept = items.flatMap((item) => {
    const before = oldItems.find(({ id }) => id === item.id)
    return before ? [[item.id, changesBetween(before, item)] as const] : []
  })
  return copyJson({
    invoice,
    subscription: changesBetween(old, now),
    items: Object.fromEntries(kept),
    added: items.filter(({ id }) => !oldItems.some((item) => item.id === id)),
    removed: oldItems.filter(({ id }) => !items.some((item) => item.id === id)).map(({ id }) => id),
  })
}

function isSame(a: SubscriptionItemRow, b: SubscriptionItemRow): boolean {
  return a.id === b.id && a.price === b.price && a.quantity === b.quantity
}

/** The unpaid invoice a held update waits for. */
export function heldInvoice(subscription: SubscriptionRow): string | null {
  const held = subscription.$.pendingUpdateParams
  return held === null ? null : (JSON.parse(held) as HeldUpdate).invoice
}

/** Carries out the held update once its invoice is paid. */
export function applyPendingUpdate(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  invoiceId: string,
): boolean {
  if (subscription.$.pendingUpdateParams === null) return false
  const held = JSON.parse(subscription.$.pendingUpdateParams) as HeldUpdate
  if (held.invoice !== invoiceId) return false
  work.edit('subscription', subscription)
  applyChanges(subscription, held.subscription)
  subscription.latest_invoice = invoiceId
  clearUpdate(subscription)
  changeItems(work, subscription.id, held)
  followPeriod(work, subscription)
  work.emit('customer.subscription.pending_update_applied', 'subscription', subscription)
  return true
}

/** Whoever asked meanwhile for the end of the period has the end of the one that runs now. */
function followPeriod(work: UnitOfWork, subscription: SubscriptionRow): void {
  if (!subscription.cancel_at_period_end) return
  const items = work.findBy('subscription_item', 'subscription', subscription.id)
  subscription.cancel_at = Math.min(...items.map(({ current_period_end }) => current_period_end))
}

/** Forgets it; returns the invoice that was never paid. */
export function dropPendingUpdate(work: UnitOfWork, subscription: SubscriptionRow): string | null {
  const invoice = heldInvoice(subscription)
  work.edit('subscription', subscription)
  clearUpdate(subscription)
  work.emit('customer.subscription.pending_update_expired', 'subscription', subscription)
  return invoice
}

/** Whoever voids its invoice takes the update back. */
export function forgetUpdate(work: UnitOfWork, subscription: SubscriptionRow): void {
  clearUpdate(work.edit('subscription', subscription))
}

function clearUpdate(subscription: SubscriptionRow): void {
  subscription.pending_update = null
  subscription.$.pendingUpdateParams = null
}

function changeItems(work: UnitOfWork, subscription: string, held: HeldUpdate): void {
  for (const item of work.findBy('subscription_item', 'subscription', subscription)) {
    const changes = held.items[item.id]
    if (held.removed.includes(item.id)) work.remove('subscription_item', item)
    else if (changes) applyChanges(work.edit('subscription_item', item), changes)
  }
  for (const item of held.added) work.insert('subscription_item', item)
}

function replaceFields(row: SubscriptionRow, by: SubscriptionRow): void {
  Object.assign(row, by)
}

function replaceItems(work: UnitOfWork, subscription: string, items: SubscriptionItemRow[]): void {
  const wanted = new Map(items.map((item) => [item.id, item]))
  for (const item of work.findBy('subscription_item', 'subscription', subscription)) {
    const by = wanted.get(item.id)
    if (by) Object.assign(work.edit('subscription_item', item), by)
    else work.remove('subscription_item', item)
    wanted.delete(item.id)
  }
  for (const item of wanted.values()) work.insert('subscription_item', item)
}
