import { describeEventType } from './event-descriptions.ts'
import { type StepAmount, type StepFact, type TimelineStep, toStepAmount } from './step.ts'
import type { ParsedStripeEvent } from './stripe-events.ts'

/** Groups consecutive events with the same cause into the steps of a timeline. */
export function toTimelineSteps(events: readonly ParsedStripeEvent[]): TimelineStep[] {
  const groups: ParsedStripeEvent[][] = []
  for (const event of events) {
    const last = groups.at(-1)
    if (last && belongsTo(last, event)) last.push(event)
    else groups.push([event])
  }
  return groups.map(toStep)
}

/**
 * Whether an event has the same request, time and customer as the group. An event that names no
 * customer fits any customer.
 */
function belongsTo(group: readonly ParsedStripeEvent[], event: ParsedStripeEvent): boolean {
  const [first] = group
  if (first?.created !== event.created || first.request !== event.request) return false
  const [whose, other] = [customerOf(group), customerOf([event])]
  return whose === null || other === null || whose === other
}

function customerOf(events: readonly ParsedStripeEvent[]): string | null {
  for (const { object } of events) {
    const customer = object.object === 'customer' ? object.id : object.customer
    if (typeof customer === 'string') return customer
  }
  return null
}

function toStep(events: readonly ParsedStripeEvent[]): TimelineStep {
  const heaviest = events.reduce((one, other) =>
    describeEventType(other.type).weight > describeEventType(one.type).weight ? other : one,
  )
  const { title, tone } = describeEventType(heaviest.type)
  const changes = [...events.flatMap(describeChange), ...events.flatMap(describeEnd)]
  const renamed = heaviest.type === 'customer.subscription.updated' ? changes[0] : undefined
  const fields = renamed === undefined ? Object.keys(heaviest.previous ?? {}) : []
  return {
    at: new Date(heaviest.created * 1000).toISOString(),
    provider: 'stripe',
    merchant: null,
    customer: customerOf(events),
    title: renamed ?? title,
    tone,
    amount: findStepAmount(events),
    notes: [
      ...new Set(changes.filter((change) => change !== renamed && change !== title)),
      ...(fields.length > 0 && changes.length === 0 ? [`Changed: ${fields.join(', ')}`] : []),
    ],
    facts: events.map(toFact),
  }
}

function toFact({ id, type, object }: ParsedStripeEvent): StepFact {
  return { type, eventId: id, objectId: typeof object.id === 'string' ? object.id : null }
}

/** Returns the amount of a step, from the event that states it best. */
function findStepAmount(events: readonly ParsedStripeEvent[]): StepAmount | null {
  for (const [type, field] of AMOUNTS) {
    const event = events.find((each) => each.type === type)
    const amount = event && toStepAmount(event.object[field], event.object.currency)
    if (amount) return amount
  }
  return null
}

const AMOUNTS = [
  ['charge.refunded', 'amount_refunded'],
  ['refund.created', 'amount'],
  ['invoice.payment_failed', 'amount_remaining'],
  ['invoice.payment_action_required', 'amount_remaining'],
  ['invoice.paid', 'amount_paid'],
  ['charge.dispute.created', 'amount'],
  ['payment_intent.succeeded', 'amount_received'],
  ['payment_intent.payment_failed', 'amount'],
  ['invoice.voided', 'total'],
  ['invoice.marked_uncollectible', 'amount_remaining'],
  ['invoice.overdue', 'amount_remaining'],
  ['invoice.finalized', 'amount_due'],
  ['invoice.created', 'amount_due'],
  ['invoice.upcoming', 'amount_due'],
] as const

/** Describes how a subscription changed. */
function describeChange({ type, object, previous }: ParsedStripeEvent): string[] {
  if (type !== 'customer.subscription.updated' || previous === null) return []
  const changes: string[] = []
  if ('status' in previous) changes.push(`Status: ${previous.status} → ${object.status}`)
  if (previous.cancel_at_period_end === false) changes.push('Cancellation scheduled')
  if (previous.cancel_at_period_end === true) changes.push('Cancellation withdrawn')
  if ('pause_collection' in previous) {
    changes.push(object.pause_collection ? 'Collection paused' : 'Collection resumed')
  }
  if ('items' in previous && changes.length === 0)
    changes.push(describeItems(object, previous.items))
  return changes
}

/**
 * Notes that the subscription ended. After the last retry, it ends in the same step as the failed
 * payment.
 */
function describeEnd({ type }: ParsedStripeEvent): string[] {
  return type === 'customer.subscription.deleted' ? [describeEventType(type).title] : []
}

interface Items {
  readonly data?: ReadonlyArray<{
    readonly quantity?: number
    readonly price?: { readonly id?: string }
  }>
}

function describeItems(object: Readonly<Record<string, unknown>>, before: unknown): string {
  const [was, is] = [before as Items, object.items as Items].map((items) =>
    (items.data ?? []).map(({ price, quantity }) => `${price?.id ?? ''}×${quantity ?? 1}`),
  )
  return was?.join() === is?.join() ? 'New period started' : 'Plan or quantity changed'
}
