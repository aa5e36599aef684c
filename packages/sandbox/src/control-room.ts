import type { BraintreeHandle } from './braintree/server.ts'
import type { Clock } from './clock.ts'
import { html, page } from './html.ts'
import { type HttpReply, type HttpRequest, serveHttp } from './http.ts'
import type { Outbox } from './outbox.ts'
import type { StripeHandle } from './stripe/handle.ts'
import type { CallTrouble, Trouble } from './trouble.ts'

export interface ControlRoom {
  readonly url: string
  close(): Promise<void>
}

export interface ControlRoomOptions {
  readonly clock: Clock
  readonly outbox: Outbox
  readonly trouble: Trouble
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
  if (request.method === 'GET' && request.path === '/') return view(options)
  const action = Object.hasOwn(ACTIONS, request.path) ? ACTIONS[request.path] : undefined
  if (request.method !== 'POST' || !action) return { status: 404, body: 'Not found' }
  // A form of another site must not move the clock.
  const origin = request.headers.origin
  if (origin && origin !== 'null' && new URL(origin).host !== request.headers.host) {
    return { status: 403, body: 'Forbidden' }
  }
  try {
    await action(new URLSearchParams(request.body.toString('utf8')), options)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return { status: 400, headers: { 'content-type': 'text/plain' }, body: message }
  }
  return { status: 303, headers: { location: '/' } }
}

type Action = (form: URLSearchParams, options: ControlRoomOptions) => Promise<void> | void

const UNITS = ['hours', 'days', 'weeks', 'months', 'years'] as const

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
    const allowed: readonly string[] = ['429', '500', 'timeout', 'half-written']
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

function state({ clock, outbox, stripe, braintree }: ControlRoomOptions) {
  return {
    now: clock.now().toISOString(),
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

function table(title: string, rows: readonly object[], fields: readonly string[]) {
  const cell = (row: object, field: string) => {
    const value = (row as Record<string, unknown>)[field]
    return html`<td>${typeof value === 'object' && value !== null ? JSON.stringify(value) : value}</td>`
  }
  return html`<h2>${title}</h2><div class="scroll"><table><thead><tr>${fields.map((field) => html`<th>${field}</th>`)}</tr></thead>
  <tbody>${rows.map((row) => html`<tr>${fields.map((field) => cell(row, field))}</tr>`)}</tbody></table></div>`
}

function view(options: ControlRoomOptions): HttpReply {
  const { now, stripe, braintree, deliveries } = state(options)
  const on = options.outbox.switches()
  const box = (name: 'duplicate' | 'drop' | 'corrupt' | 'reorder') =>
    html`<label><input type="checkbox" name="${name}"${on[name] ? html` checked` : ''}> ${name}</label>`
  const body = html`<h1>Control room</h1>
  <p class="note">The clock shows <strong><time datetime="${now}">${now}</time></strong>.</p>
  <form method="post" action="/advance"><label>Advance <input name="count" type="number" min="0" value="1"></label>
  <select name="unit" aria-label="Unit">${UNITS.map((unit) => html`<option${unit === 'months' ? html` selected` : ''}>${unit}</option>`)}</select><button>Go</button></form>
  <form method="post" action="/advance-to"><label>To <input name="date" value="${now}"></label><button>Go</button></form>
  <form method="post" action="/save"><button>Save</button></form>
  <h2>Trouble</h2>
  <form method="post" action="/fail"><label>Fail the next <input name="count" type="number" min="1" value="1"></label> calls with
  <select name="kind" aria-label="Kind"><option>500</option><option>429</option><option>timeout</option><option>half-written</option></select><button>Arm</button></form>
  <form method="post" action="/decline"><label>Decline the next charge of <input name="customer" placeholder="customer id" required></label>
  <label>with <input name="code" value="insufficient_funds"></label><button>Arm</button></form>
  <form method="post" action="/deliveries">Deliveries: ${box('duplicate')}${box('drop')}${box('corrupt')}${box('reorder')}
  <label>delay (s) <input name="delay" type="number" min="0" value="${on.delaySeconds ?? 0}"></label><button>Set</button></form>
  ${
    stripe
      ? html`${table('Stripe customers', stripe.customers, ['id', 'email', 'balance', 'delinquent'])}
  ${table('Stripe subscriptions', stripe.subscriptions, ['id', 'customer', 'status', 'trial_end', 'cancel_at', 'latest_invoice'])}
  ${table('Stripe invoices', stripe.invoices, ['id', 'number', 'customer', 'status', 'currency', 'total', 'amount_remaining', 'next_payment_attempt'])}
  ${table('Stripe events', stripe.events, ['id', 'type', 'created'])}`
      : ''
  }
  ${
    braintree
      ? html`${table('Braintree customers', braintree.customers, ['id', 'firstName', 'lastName', 'email'])}
  ${table('Braintree subscriptions', braintree.subscriptions, ['id', 'planId', 'status', 'price', 'balance', 'nextBillingDate'])}
  ${table('Braintree transactions', braintree.transactions, ['id', 'type', 'status', 'amount', 'customerId'])}`
      : ''
  }
  <h2>Deliveries</h2><div class="scroll"><table><thead><tr><th>id</th><th>event</th><th>url</th><th>state</th><th>attempts</th><th></th></tr></thead>
  <tbody>${deliveries.map((delivery) => html`<tr><td>${delivery.id}</td><td>${delivery.eventType}</td><td>${delivery.url}</td><td>${delivery.state}</td><td>${delivery.attempts.map((attempt) => attempt.status ?? attempt.error).join(', ')}</td><td><form method="post" action="/redeliver"><input type="hidden" name="id" value="${delivery.id}"><button>Send again</button></form></td></tr>`)}</tbody></table></div>`
  return {
    status: 200,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy':
        "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'",
    },
    body: page('Sandbox control room', body),
  }
}
