import { copyJson } from '../../core/store/copy-json.ts'
import { listPendingItems } from '../invoices/invoice-draft.ts'
import type { StripeContext } from '../state/context.ts'
import { renderRow } from '../state/render.ts'
import type { InvoiceRow, SubscriptionRow } from '../state/rows.ts'
import { findUpcomingNoticeTime, storeNextDueTime } from '../state/subscription-status.ts'
import { runScheduled, UnitOfWork } from '../state/unit-of-work.ts'
import { findPeriodAt } from '../wire/periods.ts'
import type { WireObject } from '../wire/wire-object.ts'
import { previewPhase } from './schedules/enter-phase.ts'
import { draftSubscriptionInvoice } from './subscription-invoice.ts'
import { listSubscriptionItems } from './subscription-swap.ts'
import { listUsagePeriods } from './usage.ts'

/**
 * Drafts the next renewal invoice of a subscription, for a preview: moves all due items one period
 * ahead and applies the schedule's next phase.
 */
export function draftNextInvoice(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  { asPlanned = true }: { readonly asPlanned?: boolean } = {},
): InvoiceRow {
  const next = Math.min(
    ...listSubscriptionItems(work, subscription).map((item) => item.current_period_end),
  )
  if (asPlanned) previewPhase(work, subscription, next)
  const items = listSubscriptionItems(work, subscription)
  const due = items.filter((item) => item.current_period_end === next)
  const usage = subscription.status === 'trialing' ? [] : listUsagePeriods(work, due)
  if (subscription.status === 'trialing') work.edit('subscription', subscription).status = 'active'
  const periodStart = Math.min(...due.map((item) => item.current_period_start))
  for (const item of due) {
    const { recurring } = work.require('price', item.price)
    if (!recurring) continue
    work.edit('subscription_item', item)
    item.current_period_start = next
    item.current_period_end = findPeriodAt(subscription.billing_cycle_anchor, recurring, next).end
  }
  const invoice = draftSubscriptionInvoice(work, subscription, {
    reason: 'subscription_cycle',
    items: due,
    pending: 'all',
    periodStart,
    usage,
    at: next,
  })
  invoice.period_end = next
  invoice.created = next
  invoice.next_payment_attempt = next + 3600
  return invoice
}

/**
 * Drafts the final invoice of a subscription, with pending items and the usage until the end. Usage
 * during a trial is free. Returns `null` if there is nothing to bill.
 */
export function draftLastInvoice(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  at: number,
): InvoiceRow | null {
  const pending = listPendingItems(
    work,
    subscription.customer,
    subscription.currency,
    subscription.id,
  )
  const own = pending.some((item) => item.$.subscription === subscription.id)
  const isTrial = subscription.status === 'trialing'
  const usage = isTrial ? [] : listUsagePeriods(work, listSubscriptionItems(work, subscription), at)
  if (!own && usage.length === 0) return null
  return draftSubscriptionInvoice(work, subscription, {
    reason: 'subscription_cycle',
    items: [],
    pending: 'subscription',
    usage,
    at,
  })
}

/**
 * Drafts the next invoice of a subscription, for a preview: the renewal, or the final invoice if
 * the subscription ends before the renewal. Returns `null` if there will be none.
 */
export function draftUpcomingInvoice(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  draftOptions: { readonly asPlanned: boolean },
): InvoiceRow | null {
  const { cancel_at: end } = subscription
  const next = Math.min(
    ...listSubscriptionItems(work, subscription).map((item) => item.current_period_end),
  )
  if (end === null || end > next) return draftNextInvoice(work, subscription, draftOptions)
  const invoice = draftLastInvoice(work, subscription, end)
  if (!invoice) return null
  invoice.period_end = end
  invoice.created = end
  invoice.next_payment_attempt = end + 3600
  return invoice
}

/** Renders an invoice as a preview: with a temporary id, and without a number and URLs. */
export function toPreview(invoice: WireObject): WireObject {
  const id = invoice.id.replace('in_', 'upcoming_in_')
  const lines = invoice.lines as { data: WireObject[]; url: string }
  lines.data.forEach((line, at) => {
    line.id = upcomingLineId(invoice, at)
    line.invoice = id
  })
  lines.url = `/v1/invoices/upcoming/lines`
  const { hosted_invoice_url: _url, invoice_pdf: _pdf, ...rest } = invoice
  return { ...rest, id, object: 'invoice', automatically_finalizes_at: null, status: 'draft' }
}

/**
 * Returns the id of a preview line. It is derived from the line's position, because each page of
 * the list is computed by a new preview, and the ids must be the same on every page.
 */
function upcomingLineId({ customer }: WireObject, at: number): string {
  return `il_tmp_${at + 1}${String(customer).replace('cus_', '')}`
}

/** Emits `invoice.upcoming` for a subscription if it is due. Returns whether it was emitted. */
export function emitUpcomingInvoiceEvent(context: StripeContext, id: string): boolean {
  const trial = new UnitOfWork(context, { about: [id] })
  const at = findUpcomingNoticeTime(trial, trial.require('subscription', id))
  if (at === null || at > trial.now) return false
  let shown: WireObject
  try {
    const invoice = draftNextInvoice(trial, trial.require('subscription', id))
    shown = toPreview(copyJson(renderRow('invoice', invoice, trial.tables)))
  } finally {
    trial.rollback()
  }
  runScheduled(context, trial.testClock, (work) => {
    const subscription = work.edit('subscription', work.require('subscription', id))
    subscription.$.upcomingFor = Math.min(
      ...listSubscriptionItems(work, subscription).map((item) => item.current_period_end),
    )
    work.emitObject('invoice.upcoming', shown)
    storeNextDueTime(work, subscription)
  })
  return true
}
