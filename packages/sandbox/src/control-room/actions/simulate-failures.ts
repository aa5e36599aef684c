import type { CallFault } from '../../core/trouble.ts'
import { type ControlAction, readWholeNumber } from './action.ts'

/** Ways in which an API call can fail, with their labels on the page of the control room. */
export const CALL_FAILURES = {
  '500': { name: 'Server error', help: 'answers 500 without effect' },
  '429': { name: 'Too many requests', help: 'answers 429 without effect' },
  timeout: { name: 'No response', help: 'takes effect, but no response is sent' },
  'half-written': {
    name: 'Half a response',
    help: 'takes effect; the connection breaks during the response',
  },
  'saved-500': {
    name: 'Stored error',
    help: 'answers 500 without effect, and stores this response under the idempotency key',
  },
  'made-500': {
    name: 'Stored error with effect',
    help: 'answers 500 although the call takes effect, and stores this response under the idempotency key',
  },
  slow: { name: 'Three seconds late', help: 'takes effect immediately; the response is late' },
  held: { name: 'Held back', help: 'takes effect; the response waits until you send it' },
} as const

export const failCalls: ControlAction = (form, { trouble }) => {
  const kind = form.get('kind') ?? '500'
  if (!Object.hasOwn(CALL_FAILURES, kind))
    throw new RangeError(`There is no failure called ${kind}`)
  const count = readWholeNumber(form, 'count', 1)
  if (count > 1000) throw new RangeError('At most 1000 calls can fail')
  const wanted = form.get('provider') || null
  if (wanted !== null && wanted !== 'stripe' && wanted !== 'braintree') {
    throw new RangeError(`There is no provider called ${wanted}`)
  }
  const ordered = kind === 'slow' ? { slowMs: 3000 } : (kind as CallFault)
  trouble.failNext(count, ordered, wanted)
  return {
    message: `The next ${count === 1 ? 'call is' : `${count} calls are`} affected.`,
    data: { count },
  }
}

export const declineCharge: ControlAction = (form, { trouble }) => {
  const customer = form.get('customer')?.trim()
  if (!customer) throw new RangeError('Enter the id of a customer')
  const code = form.get('code') || 'insufficient_funds'
  trouble.declineNextCharge(customer, code)
  return {
    message: `The next charge of ${customer} will be declined: ${code}.`,
    data: { customer, code },
  }
}

export const setDeliverySwitches: ControlAction = (form, { outbox }) => {
  outbox.set({
    duplicate: form.has('duplicate'),
    drop: form.has('drop'),
    corrupt: form.has('corrupt'),
    reorder: form.has('reorder'),
    delaySeconds: readWholeNumber(form, 'delay', 0),
  })
  const { delaySeconds, ...switches } = outbox.switches()
  const on = Object.entries(switches).flatMap(([name, value]) => (value ? [name] : []))
  const message =
    on.length === 0 && !delaySeconds
      ? 'Webhooks are sent normally.'
      : 'The settings of webhook delivery were changed.'
  return { message, data: outbox.switches() }
}

export const releaseHeldResponses: ControlAction = (_form, { trouble }) => {
  const { held } = trouble.pending()
  trouble.release()
  return {
    message: `${held} ${held === 1 ? 'response was' : 'responses were'} sent.`,
    data: { held },
  }
}

export const clearTrouble: ControlAction = (_form, { trouble }) => {
  trouble.clear()
  return { message: 'All pending failures were removed.', data: {} }
}
