import { triggerEvents } from '../../fixtures/trigger.ts'
import { readCurrentPosition, readEventsSince } from '../model/events-since.ts'
import type { ControlAction } from './action.ts'

export const redeliverWebhook: ControlAction = async (form, { outbox }) => {
  const id = form.get('id') ?? ''
  await outbox.redeliver(id)
  const last = outbox.find(id)?.attempts.at(-1)
  const answer = last?.status ?? last?.error ?? 'not delivered yet'
  return { message: `Sent again. Result: ${answer}.`, data: { id, status: last?.status ?? null } }
}

/**
 * Handles the form that triggers an event: causes the event, runs the jobs that are due, and waits
 * until the webhooks are sent.
 */
export const triggerEvent: ControlAction = async (form, controls) => {
  const { stripe, braintree, clock, outbox } = controls
  const event = form.get('event')?.trim() ?? ''
  const [customer, subject] = [form.get('customer')?.trim(), form.get('subject')?.trim()]
  const mark = readCurrentPosition(controls)
  await triggerEvents(
    { stripe: stripe?.handle ?? null, braintree: braintree?.handle ?? null },
    { event, ...(customer ? { customer } : {}), ...(subject ? { subject } : {}) },
  )
  await clock.advance({})
  await outbox.flush()
  const since = readEventsSince(controls, mark)
  const sent =
    since.deliveries === 1 ? '1 webhook was sent' : `${since.deliveries} webhooks were sent`
  return { message: `${event}: ${since.events.length} events, ${sent}.`, data: since }
}
