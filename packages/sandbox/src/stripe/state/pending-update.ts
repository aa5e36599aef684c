import type Stripe from 'stripe'
import { applyRowChanges, diffRows, type RowChanges } from '../../core/row-changes.ts'
import { copyJson } from '../../core/store/copy-json.ts'
import { renderRow } from './render.ts'
import type { SubscriptionItemRow, SubscriptionRow } from './rows.ts'
import type { UnitOfWork } from './unit-of-work.ts'

const MAX_PENDING_SECONDS = 23 * 3600

/**
 * A pending update as it is stored: only its changes, because coupons, taxes and pauses of the
 * subscription may change while the update is pending.
 */
interface StoredUpdate {
  readonly invoice: string
  readonly subscription: RowChanges
  readonly items: Readonly<Record<string, RowChanges>>
  readonly added: readonly SubscriptionItemRow[]
  readonly removed: readonly string[]
}

/** A subscription and its items as they were before an update that may become pending. */
export interface PreviousState {
  readonly subscription: string
  readonly items: string
}

export function captureSubscriptionState(
  work: UnitOfWork,
  subscription: SubscriptionRow,
): PreviousState {
  const items = work.findBy('subscription_item', 'subscription', subscription.id)
  return { subscription: JSON.stringify(subscription), items: JSON.stringify(items) }
}

/** Parameters shown in `pending_update`. */
type ShownUpdateParams = Pick<Stripe.SubscriptionUpdateParams, 'cancel_at_period_end' | 'metadata'>

/**
 * Makes a subscription update pending because its payment did not succeed: restores the previous
 * state. The update is applied once its invoice is paid. It expires after 23 hours, or when the
 * period ends.
 */
export function makeUpdatePending(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  stateBefore: PreviousState,
  invoiceId: string,
  params: ShownUpdateParams,
): void {
  const items = work.findBy('subscription_item', 'subscription', subscription.id)
  const oldItems = JSON.parse(stateBefore.items) as SubscriptionItemRow[]
  const changed = items
    .filter((item) => !oldItems.some((old) => isSame(old, item)))
    .map((item) => copyJson(renderRow('subscription_item', item, work.tables)))
  const old = JSON.parse(stateBefore.subscription) as SubscriptionRow
  const stored = describeUpdate(invoiceId, [old, subscription], [oldItems, items])
  const { billing_cycle_anchor: anchor, trial_end: trialEnd } = subscription
  Object.assign(subscription, old)
  subscription.latest_invoice = invoiceId
  replaceItems(work, subscription.id, oldItems)
  subscription.$.pendingUpdateParams = JSON.stringify(stored)
  subscription.pending_update = {
    billing_cycle_anchor: anchor,
    cancel_at_period_end: params.cancel_at_period_end ?? null,
    discount: null,
    discounts: null,
    expires_at: Math.min(
      work.now + MAX_PENDING_SECONDS,
      ...oldItems.map(({ current_period_end }) => current_period_end),
    ),
    metadata: params.metadata ? (params.metadata as Stripe.Metadata) : null,
    subscription_items: changed.length > 0 ? (changed as unknown as never) : null,
    trial_end: trialEnd,
    trial_from_plan: null,
  }
}

type OldAndNew<T> = readonly [old: T, now: T]

function describeUpdate(
  invoice: string,
  [old, now]: OldAndNew<SubscriptionRow>,
  [oldItems, items]: OldAndNew<readonly SubscriptionItemRow[]>,
): StoredUpdate {
  const kept = items.flatMap((item) => {
    const before = oldItems.find(({ id }) => id === item.id)
    return before ? [[item.id, diffRows(before, item)] as const] : []
  })
  return copyJson({
    invoice,
    subscription: diffRows(old, now),
    items: Object.fromEntries(kept),
    added: items.filter(({ id }) => !oldItems.some((item) => item.id === id)),
    removed: oldItems.filter(({ id }) => !items.some((item) => item.id === id)).map(({ id }) => id),
  })
}

function isSame(a: SubscriptionItemRow, b: SubscriptionItemRow): boolean {
  return a.id === b.id && a.price === b.price && a.quantity === b.quantity
}

/**
 * Returns the id of the unpaid invoice of a pending update. `null` if the subscription has no
 * pending update.
 */
export function getPendingUpdateInvoiceId(subscription: SubscriptionRow): string | null {
  const stored = subscription.$.pendingUpdateParams
  return stored === null ? null : (JSON.parse(stored) as StoredUpdate).invoice
}

/**
 * Applies the pending update of a subscription after the invoice with the id `invoiceId` was paid,
 * if that is the invoice of the update. Returns whether the update was applied.
 */
export function applyPendingUpdate(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  invoiceId: string,
): boolean {
  if (subscription.$.pendingUpdateParams === null) return false
  const stored = JSON.parse(subscription.$.pendingUpdateParams) as StoredUpdate
  if (stored.invoice !== invoiceId) return false
  work.edit('subscription', subscription)
  applyRowChanges(subscription, stored.subscription)
  subscription.latest_invoice = invoiceId
  clearUpdate(subscription)
  changeItems(work, subscription.id, stored)
  moveCancelDate(work, subscription)
  work.emit('customer.subscription.pending_update_applied', 'subscription', subscription)
  return true
}

/**
 * Moves `cancel_at` to the end of the new current period, if the subscription is to be canceled at
 * the end of the period.
 */
function moveCancelDate(work: UnitOfWork, subscription: SubscriptionRow): void {
  if (!subscription.cancel_at_period_end) return
  const items = work.findBy('subscription_item', 'subscription', subscription.id)
  subscription.cancel_at = Math.min(...items.map(({ current_period_end }) => current_period_end))
}

/**
 * Drops the pending update of a subscription because it expired. Returns the id of its unpaid
 * invoice.
 */
export function expirePendingUpdate(
  work: UnitOfWork,
  subscription: SubscriptionRow,
): string | null {
  const invoice = getPendingUpdateInvoiceId(subscription)
  work.edit('subscription', subscription)
  clearUpdate(subscription)
  work.emit('customer.subscription.pending_update_expired', 'subscription', subscription)
  return invoice
}

/** Drops the pending update of a subscription because its invoice was voided. */
export function discardPendingUpdate(work: UnitOfWork, subscription: SubscriptionRow): void {
  clearUpdate(work.edit('subscription', subscription))
}

function clearUpdate(subscription: SubscriptionRow): void {
  subscription.pending_update = null
  subscription.$.pendingUpdateParams = null
}

function changeItems(work: UnitOfWork, subscription: string, stored: StoredUpdate): void {
  for (const item of work.findBy('subscription_item', 'subscription', subscription)) {
    const changes = stored.items[item.id]
    if (stored.removed.includes(item.id)) work.remove('subscription_item', item)
    else if (changes) applyRowChanges(work.edit('subscription_item', item), changes)
  }
  for (const item of stored.added) work.insert('subscription_item', item)
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
