import type { MovableClock } from '../core/clock/clock.ts'
import type { Outbox } from '../core/outbox.ts'
import type { CallTrouble, Trouble } from '../core/trouble.ts'

/** What the forms of the page can change. */
export interface Controls {
  readonly clock: MovableClock
  readonly outbox: Outbox
  readonly trouble: Trouble
  readonly save: () => Promise<void>
}

type Action = (form: URLSearchParams, controls: Controls) => Promise<void> | void

export const UNITS = ['hours', 'days', 'weeks', 'months', 'years'] as const

/** Trouble that can be ordered from the page: all but what a test has to wait for. */
export const CALL_TROUBLES = [
  '500',
  '429',
  'timeout',
  'half-written',
  'saved-500',
  'made-500',
] as const satisfies readonly CallTrouble[]

/** What a form does, by the path it is posted to. What is thrown is shown to the sender. */
export const ACTIONS: Readonly<Record<string, Action>> = {
  '/advance': async (form, { clock }) => {
    const unit = UNITS.find((each) => each === form.get('unit')) ?? 'days'
    const count = Number(form.get('count') ?? 1)
    if (!Number.isInteger(count) || count < 0) throw new RangeError('A whole number, please')
    await clock.advance({ [unit]: count })
  },
  '/advance-to': (form, { clock }) => clock.advanceTo(new Date(form.get('date') ?? '')),
  '/fail': (form, { trouble }) => {
    const kind = CALL_TROUBLES.find((each) => each === (form.get('kind') ?? '500'))
    if (!kind) throw new RangeError('Unknown trouble')
    trouble.failNext(Number(form.get('count') ?? 1), kind)
  },
  '/decline': (form, { trouble }) => {
    const customer = form.get('customer')
    if (!customer) throw new RangeError('Which customer?')
    trouble.declineNextCharge(customer, form.get('code') || 'insufficient_funds')
  },
  '/deliveries': (form, { outbox }) => {
    outbox.set({
      duplicate: form.has('duplicate'),
      drop: form.has('drop'),
      corrupt: form.has('corrupt'),
      reorder: form.has('reorder'),
      delaySeconds: Number(form.get('delay') ?? 0),
    })
  },
  '/redeliver': (form, { outbox }) => outbox.redeliver(form.get('id') ?? ''),
  '/save': (_form, { save }) => save(),
}
