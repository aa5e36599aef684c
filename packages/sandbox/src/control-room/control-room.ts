import type { BraintreeHandle } from '../braintree/server/server.ts'
import type { Clock } from '../core/clock/clock.ts'
import type { FailedJobs } from '../core/clock/failed-jobs.ts'
import { type HttpReply, type HttpRequest, serveHttp } from '../core/http.ts'
import type { Outbox } from '../core/outbox.ts'
import type { CallTrouble, Trouble } from '../core/trouble.ts'
import type { StripeHandle } from '../stripe/server/handle.ts'
import { controlRoomPage, UNITS } from './control-room-page.ts'

export interface ControlRoom {
  readonly url: string
  close(): Promise<void>
}

export interface ControlRoomOptions {
  readonly clock: Clock
  readonly outbox: Outbox
  readonly trouble: Trouble
  readonly failures: FailedJobs
  readonly stripe: StripeHandle | null
  readonly braintree: BraintreeHandle | null
  readonly port: number
  readonly save: () => Promise<void>
}

const SHOWN = 25

/** One page without script: what there is, and forms that move the clock and make trouble. */
export async function serveControlRoom(options: ControlRoomOptions): Promise<ControlRoom> {
  const server = await serveHttp({
    port: options.port,
    handle: (request) => answer(request, options),
  })
  return { url: server.url, close: () => server.close() }
}

async function answer(request: HttpRequest, options: ControlRoomOptions): Promise<HttpReply> {
  if (request.path === '/state.json') return json(state(options))
  if (request.method === 'GET' && request.path === '/') {
    return controlRoomPage(state(options), options.outbox.switches())
  }
  const action = Object.hasOwn(ACTIONS, request.path) ? ACTIONS[request.path] : undefined
  if (request.method !== 'POST' || !action) return { status: 404, body: 'Not found' }
  // A form of another site must not move the clock.
  const { origin, host } = request.headers
  if (origin !== undefined && origin !== `http://${host}`) return { status: 403, body: 'Forbidden' }
  try {
    await action(new URLSearchParams(request.body.toString('utf8')), options)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return { status: 400, headers: { 'content-type': 'text/plain' }, body: message }
  }
  return { status: 303, headers: { location: '/' } }
}

type Action = (form: URLSearchParams, options: ControlRoomOptions) => Promise<void> | void

const ACTIONS: Readonly<Record<string, Action>> = {
  '/advance': async (form, { clock }) => {
    const unit = UNITS.find((each) => each === form.get('unit')) ?? 'days'
    const count = Number(form.get('count') ?? 1)
    if (!Number.isInteger(count) || count < 0) throw new RangeError('A whole number, please')
    await clock.advance({ [unit]: count })
  },
  '/advance-to': (form, { clock }) => clock.advanceTo(new Date(form.get('date') ?? '')),
  '/fail': (form, { trouble }) => {
    const kind = form.get('kind') ?? '500'
    const allowed: readonly string[] = [
      '429',
      '500',
      'saved-500',
      'made-500',
      'timeout',
      'half-written',
    ]
    if (!allowed.includes(kind)) throw new RangeError('Unknown trouble')
    trouble.failNext(Number(form.get('count') ?? 1), kind as CallTrouble)
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

export type ControlRoomState = ReturnType<typeof state>

function state({ clock, outbox, failures, stripe, braintree }: ControlRoomOptions) {
  return {
    now: clock.now().toISOString(),
    failedJobs: failures.list().slice(-SHOWN).reverse(),
    stripe: stripe && {
      customers: stripe.customers().slice(0, SHOWN),
      subscriptions: stripe.subscriptions().slice(0, SHOWN),
      invoices: stripe.invoices().slice(0, SHOWN),
      events: stripe.events().slice(-SHOWN).reverse(),
    },
    braintree: braintree && {
      customers: braintree.customers().slice(-SHOWN).reverse(),
      subscriptions: braintree.subscriptions().slice(-SHOWN).reverse(),
      transactions: braintree.transactions().slice(-SHOWN).reverse(),
    },
    deliveries: outbox
      .deliveries()
      .slice(-SHOWN)
      .reverse()
      .map(({ body: _body, ...delivery }) => delivery),
  }
}

function json(value: unknown): HttpReply {
  return {
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(value),
  }
}
