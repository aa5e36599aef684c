import { copyJson } from '../../core/store/copy-json.ts'
import type { StripeContext } from '../state/context.ts'
import { nowOf } from '../state/context.ts'
import { render } from '../state/render.ts'
import type { InvoiceRow, SubscriptionRow } from '../state/rows.ts'
import { planNext, upcomingAt } from '../state/subscription-status.ts'
import { UnitOfWork, workInTime } from '../state/unit-of-work.ts'
import { periodAt } from '../wire/periods.ts'
import type { WireObject } from '../wire/wire-object.ts'
import { draftSubscriptionInvoice } from './subscription-invoice.ts'
import { itemsOf } from './subscription-swap.ts'
import { usagePeriods } from './usage.ts'

/** The renewal as it would be: every item one period on. */
export function nextInvoice(work: UnitOfWork, subscription: SubscriptionRow): InvoiceRow {
  const items = itemsOf(work, subscription)
  const next = Math.min(...items.map((item) => item.current_period_end))
  const due = items.filter((item) => item.current_period_end === next)
  const usage = subscription.status === 'trialing' ? [] : usagePeriods(work, due)
  if (subscription.status === 'trialing') subscription.status = 'active'
  const periodStart = Math.min(...due.map((item) => item.current_period_start))
  for (const item of due) {
    const { recurring } = work.require('price', item.price)
    if (!recurring) continue
    work.edit('subscription_item', item)
    item.current_period_start = next
    item.current_period_end = periodAt(subscription.billing_cycle_anchor, recurring, next).end
  }
  const invoice = draftSubscriptionInvoice(work, subscription, {
    reason: 'subscription_cycle',
    items: due,
    pending: 'all',
    periodStart,
    usage,
  })
  invoice.period_end = next
  invoice.created = next
  invoice.next_payment_attempt = next + 3600
  return invoice
}

/** A preview has no life: its own kind of id, no number, nothing to finalize. */
export function asUpcoming(invoice: WireObject): WireObject {
  const id = invoice.id.replace('in_', 'upcoming_in_')
  const lines = invoice.lines as { data: WireObject[]; url: string }
  for (const line of lines.data) line.invoice = id
  lines.url = `/v1/invoices/upcoming/lines`
  const { hosted_invoice_url: _url, invoice_pdf: _pdf, ...rest } = invoice
  return { ...rest, id, object: 'invoice', automatically_finalizes_at: null, status: 'draft' }
}

/** Sends `invoice.upcoming` when its time has come; says whether it did. */
export function announceUpcoming(context: StripeContext, id: string): boolean {
  const trial = new UnitOfWork(context)
  const at = upcomingAt(trial, trial.require('subscription', id))
  if (at === null || at > nowOf(context)) return false
  let shown: WireObject
  try {
    const invoice = nextInvoice(trial, trial.require('subscription', id))
    shown = asUpcoming(copyJson(render('invoice', invoice, trial.tables)))
  } finally {
    trial.rollback()
  }
  workInTime(context, (work) => {
    const subscription = work.edit('subscription', work.require('subscription', id))
    subscription.$.upcomingFor = Math.min(
      ...itemsOf(work, subscription).map((item) => item.current_period_end),
    )
    work.emitObject('invoice.upcoming', shown)
    planNext(work, subscription)
  })
  return true
}
