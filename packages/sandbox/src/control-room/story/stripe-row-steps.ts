import type { StripeContext } from '../../stripe/state/context.ts'
import type { InvoiceRow } from '../../stripe/state/rows.ts'
import { type StepTone, type TimelineStep, toStepAmount } from './step.ts'

/**
 * Derives a customer's steps before the time `until` from the stored objects. Events expire, but an
 * invoice keeps its payment date.
 */
export function buildStepsFromRows(
  context: StripeContext,
  customer: string,
  until: number,
): TimelineStep[] {
  const { tables } = context
  const steps: TimelineStep[] = []
  const add = (
    at: number | null,
    title: string,
    tone: StepTone,
    id: string,
    invoice?: InvoiceRow,
  ) => {
    if (at === null || at >= until) return
    steps.push({
      at: new Date(at * 1000).toISOString(),
      provider: 'stripe',
      merchant: null,
      customer,
      title,
      tone,
      amount: invoice ? toStepAmount(invoice.total, invoice.currency) : null,
      notes: invoice?.number ? [invoice.number] : [],
      facts: [{ type: `${id.split('_')[0]}`, eventId: null, objectId: id }],
    })
  }
  const row = tables.customer.get(customer)
  if (row) add(row.created, 'Customer created', 'plain', customer)
  for (const subscription of tables.subscription.findBy('customer', customer)) {
    add(subscription.start_date, 'Subscription started', 'good', subscription.id)
    add(subscription.ended_at, 'Subscription ended', 'bad', subscription.id)
  }
  for (const invoice of tables.invoice.findBy('customer', customer)) {
    const { paid_at, voided_at, marked_uncollectible_at } = invoice.status_transitions
    add(paid_at, 'Invoice paid', 'good', invoice.id, invoice)
    add(voided_at, 'Invoice voided', 'warning', invoice.id, invoice)
    add(marked_uncollectible_at, 'Invoice marked uncollectible', 'bad', invoice.id, invoice)
  }
  return steps.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
}
