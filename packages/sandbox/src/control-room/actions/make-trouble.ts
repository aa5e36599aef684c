import type { CallTrouble } from '../../core/trouble.ts'
import { type Action, wholeNumber } from './action.ts'

/** What can go wrong with a call, in the words of the page. */
export const CALL_TROUBLES = {
  '500': { name: 'Server error', help: 'refused with 500 before anything happens' },
  '429': { name: 'Too many requests', help: 'refused with 429 before anything happens' },
  timeout: { name: 'No response', help: 'it happens, but the response never comes' },
  'half-written': { name: 'Half a response', help: 'it happens; the connection breaks on the way' },
  'saved-500': { name: 'Kept error', help: 'a 500 that is given again for the idempotency key' },
  'made-500': { name: 'Kept error, but done', help: 'the same, and it happened all the same' },
  slow: { name: 'Three seconds late', help: 'it happens at once; the response takes its time' },
  held: { name: 'Held back', help: 'it happens; the response waits until you send it' },
} as const

export const failCalls: Action = (form, { trouble }) => {
  const kind = form.get('kind') ?? '500'
  if (!Object.hasOwn(CALL_TROUBLES, kind))
    throw new RangeError(`There is no trouble called ${kind}`)
  const count = wholeNumber(form, 'count', 1)
  if (count > 1000) throw new RangeError('A thousand calls at most')
  const wanted = form.get('provider') || null
  if (wanted !== null && wanted !== 'stripe' && wanted !== 'braintree') {
    throw new RangeError(`There is no provider ${wanted}`)
  }
  const ordered = kind === 'slow' ? { slowMs: 3000 } : (kind as CallTrouble)
  trouble.failNext(count, ordered, wanted)
  return {
    said: `Ordered for the next ${count === 1 ? 'call' : `${count} calls`}.`,
    data: { count },
  }
}

export const declineCharge: Action = (form, { trouble }) => {
  const customer = form.get('customer')?.trim()
  if (!customer) throw new RangeError('Which customer?')
  const code = form.get('code') || 'insufficient_funds'
  trouble.declineNextCharge(customer, code)
  return {
    said: `The next charge of ${customer} will be declined: ${code}.`,
    data: { customer, code },
  }
}

export const setDeliveries: Action = (form, { outbox }) => {
  outbox.set({
    duplicate: form.has('duplicate'),
    drop: form.has('drop'),
    corrupt: form.has('corrupt'),
    reorder: form.has('reorder'),
    delaySeconds: wholeNumber(form, 'delay', 0),
  })
  const { delaySeconds, ...switches } = outbox.switches()
  const on = Object.entries(switches).flatMap(([name, value]) => (value ? [name] : []))
  const said = on.length === 0 && !delaySeconds ? 'Webhooks are sent as they should be.' : 'Set.'
  return { said, data: outbox.switches() }
}

export const releaseHeld: Action = (_form, { trouble }) => {
  const { held } = trouble.pending()
  trouble.release()
  return {
    said: `${held} held ${held === 1 ? 'response was' : 'responses were'} sent.`,
    data: { held },
  }
}

export const clearTrouble: Action = (_form, { trouble }) => {
  trouble.clear()
  return { said: 'All that was ordered is forgotten.', data: {} }
}
