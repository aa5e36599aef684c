import { trigger } from '../../fixtures/trigger.ts'
import { eventsSince, markNow } from '../model/events-since.ts'
import type { Action } from './action.ts'

export const redeliver: Action = async (form, { outbox }) => {
  const id = form.get('id') ?? ''
  await outbox.redeliver(id)
  const last = outbox.find(id)?.attempts.at(-1)
  const answer = last?.status ?? last?.error ?? 'not delivered yet'
  return { message: `Sent again: ${answer}.`, data: { id, status: last?.status ?? null } }
}

/** Triggers an event, runs the jobs that are due, and waits for the webhooks. */
export const triggerEvent: Action = async (form, controls) => {
  const { stripe, braintree, clock, outbox } = controls
  const event = form.get('event')?.trim() ?? ''
  const [customer, subject] = [form.get('customer')?.trim(), form.get('subject')?.trim()]
  const mark = markNow(controls)
  await trigger(
    { stripe: stripe?.handle ?? null, braintree: braintree?.handle ?? null },
    { event, ...(customer ? { customer } : {}), ...(subject ? { subject } : {}) },
  )
  await clock.advance({})
  await outbox.flush()
  const since = eventsSince(controls, mark)
  const sent =
    since.deliveries === 1 ? '1 webhook was sent' : `${since.deliveries} webhooks were sent`
  return { message: `${event}: ${since.events.length} events, ${sent}.`, data: since }
}
