import type { Delivery } from '../../core/outbox.ts'
import { mapNotificationsToSteps } from './braintree-deliveries.ts'
import { deriveBraintreeSteps } from './braintree-steps.ts'
import { findMerchant } from './merchants.ts'
import type { CustomerRef, ObservedSandbox } from './observed-sandbox.ts'
import { sortNewestFirst, type TimelineStep } from './step.ts'
import { createCustomerEventFilter, readEvents } from './stripe-events.ts'
import { buildStepsFromRows } from './stripe-row-steps.ts'
import { toTimelineSteps } from './stripe-steps.ts'

/** Summary of a webhook delivery, as a timeline shows it. */
export interface DeliveryNote {
  readonly id: string
  readonly state: Delivery['state']
  readonly url: string
}

export interface PastTimelineStep extends TimelineStep {
  readonly deliveries: readonly DeliveryNote[]
}

const MAX_EVENTS = 400

/** Returns the past steps of a customer, newest first. */
export function listPastSteps(
  sandbox: ObservedSandbox,
  customerRef: CustomerRef,
): PastTimelineStep[] {
  return sortNewestFirst(
    customerRef.provider === 'stripe'
      ? listPastStripeSteps(sandbox, customerRef.id)
      : listPastBraintreeSteps(sandbox, customerRef),
  )
}

function listPastStripeSteps(sandbox: ObservedSandbox, customer: string): PastTimelineStep[] {
  if (!sandbox.stripe) return []
  const { context } = sandbox.stripe
  const filter = { mentions: customer, keep: createCustomerEventFilter(customer), most: MAX_EVENTS }
  const events = readEvents(context, filter).reverse()
  const first = events[0]?.created ?? Number.POSITIVE_INFINITY
  const steps = [...buildStepsFromRows(context, customer, first), ...toTimelineSteps(events)]
  return steps.map((step) => ({ ...step, deliveries: deliveriesOf(sandbox, step) }))
}

function listPastBraintreeSteps(
  sandbox: ObservedSandbox,
  { merchant, id }: CustomerRef,
): PastTimelineStep[] {
  const found = findMerchant(sandbox, merchant)
  const steps = found ? deriveBraintreeSteps(found, id) : []
  const sent = found && mapNotificationsToSteps(sandbox, found, steps)
  return steps.map((step) => ({ ...step, deliveries: (sent?.get(step) ?? []).map(toNote) }))
}

function deliveriesOf({ outbox }: ObservedSandbox, { facts }: TimelineStep): DeliveryNote[] {
  return facts.flatMap(({ eventId }) =>
    eventId === null ? [] : outbox.deliveries({ eventId }).map(toNote),
  )
}

function toNote({ id, state, url }: Delivery): DeliveryNote {
  return { id, state, url }
}
