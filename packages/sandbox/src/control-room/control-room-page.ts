import { type Html, html, page } from '../core/html.ts'
import type { HttpReply } from '../core/http.ts'
import type { DeliverySwitches } from '../core/outbox.ts'
import { formatAmount } from '../stripe/wire/money.ts'
import type { ControlRoomState } from './control-room.ts'

export const UNITS = ['hours', 'days', 'weeks', 'months', 'years'] as const

/** Heading → what a row has to say under it. */
type Columns<Row> = Readonly<Record<string, (row: Row) => unknown>>

function table<Row>(title: string, rows: readonly Row[], columns: Columns<Row>): Html {
  if (rows.length === 0) return html`<h2>${title}</h2><p>None yet.</p>`
  const cells = Object.values(columns)
  return html`<h2>${title}</h2><div class="scroll"><table>
  <thead><tr>${Object.keys(columns).map((heading) => html`<th scope="col">${heading}</th>`)}</tr></thead>
  <tbody>${rows.map((row) => html`<tr>${cells.map((cell) => html`<td>${cell(row)}</td>`)}</tr>`)}</tbody>
  </table></div>`
}

/** `2026-01-31 10:00:00` of Stripe's seconds; nothing for nothing. */
function moment(seconds: unknown): string {
  if (typeof seconds !== 'number') return ''
  return new Date(seconds * 1000).toISOString().slice(0, 19).replace('T', ' ')
}

function amount(minor: unknown, currency: unknown): string {
  return typeof minor === 'number' ? formatAmount(minor, String(currency ?? 'usd')) : ''
}

export function controlRoomPage(state: ControlRoomState, on: DeliverySwitches): HttpReply {
  const { now, failedJobs, stripe, braintree, deliveries } = state
  const box = (name: 'duplicate' | 'drop' | 'corrupt' | 'reorder') =>
    html`<label><input type="checkbox" name="${name}"${on[name] ? html` checked` : ''}> ${name}</label>`
  const body = html`<h1>Control room</h1>
  <p class="note">The clock shows <strong><time datetime="${now}">${now}</time></strong>.</p>
  <form method="post" action="/advance"><label>Advance <input name="count" type="number" min="0" value="1"></label>
  <select name="unit" aria-label="Unit">${UNITS.map((unit) => html`<option${unit === 'months' ? html` selected` : ''}>${unit}</option>`)}</select><button>Advance</button></form>
  <form method="post" action="/advance-to"><label>Advance to <input name="date" value="${now}"></label><button>Advance</button></form>
  <form method="post" action="/save"><button>Save the state file</button></form>
  ${failedJobs.length > 0 ? failedJobsTable(failedJobs) : ''}
  <h2>Trouble</h2>
  <form method="post" action="/fail"><label>Fail the next <input name="count" type="number" min="1" value="1"></label> calls with
  <select name="kind" aria-label="Kind"><option>500</option><option>429</option><option>timeout</option><option>half-written</option><option>saved-500</option><option>made-500</option></select><button>Arm</button></form>
  <form method="post" action="/decline"><label>Decline the next charge of <input name="customer" placeholder="customer id" required></label>
  <label>with <input name="code" value="insufficient_funds"></label><button>Arm</button></form>
  <form method="post" action="/deliveries">Deliveries: ${box('duplicate')}${box('drop')}${box('corrupt')}${box('reorder')}
  <label>delay (s) <input name="delay" type="number" min="0" value="${on.delaySeconds ?? 0}"></label><button>Set</button></form>
  ${stripe ? stripeTables(stripe) : ''}
  ${braintree ? braintreeTables(braintree) : ''}
  ${table('Deliveries', deliveries, {
    event: ({ eventType }) => eventType,
    to: ({ url }) => url,
    state: ({ state }) => state,
    attempts: ({ attempts }) => attempts.map(({ status, error }) => status ?? error).join(', '),
    '': ({ id }) =>
      html`<form method="post" action="/redeliver"><input type="hidden" name="id" value="${id}"><button>Send again</button></form>`,
  })}`
  return {
    status: 200,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy':
        "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'",
    },
    body: page('Sandbox control room', body),
  }
}

function failedJobsTable(failedJobs: ControlRoomState['failedJobs']): Html {
  return table('Failed jobs', failedJobs, {
    job: ({ provider, job }) => `${provider} ${job}`,
    id: ({ key }) => key,
    why: ({ message }) => message,
    attempts: ({ attempts }) => attempts,
    'last failed': ({ lastFailedAt }) => moment(lastFailedAt / 1000),
    'next attempt': ({ retryAt }) => moment(retryAt / 1000),
  })
}

function stripeTables(stripe: NonNullable<ControlRoomState['stripe']>): Html {
  return html`${table('Stripe customers', stripe.customers, {
    id: ({ id }) => id,
    'e-mail': ({ email }) => email,
    balance: ({ balance, currency }) => amount(balance, currency),
  })}
  ${table('Stripe subscriptions', stripe.subscriptions, {
    id: ({ id }) => id,
    customer: ({ customer }) => customer,
    status: ({ status }) => status,
    'trial ends': ({ trial_end }) => moment(trial_end),
    'cancels at': ({ cancel_at }) => moment(cancel_at),
  })}
  ${table('Stripe invoices', stripe.invoices, {
    number: ({ number, id }) => number ?? id,
    customer: ({ customer }) => customer,
    status: ({ status }) => status,
    total: ({ total, currency }) => amount(total, currency),
    remaining: ({ amount_remaining, currency }) => amount(amount_remaining, currency),
    'next attempt': ({ next_payment_attempt }) => moment(next_payment_attempt),
  })}
  ${table('Stripe events', stripe.events, {
    created: ({ created }) => moment(created),
    type: ({ type }) => type,
    id: ({ id }) => id,
  })}`
}

function braintreeTables(braintree: NonNullable<ControlRoomState['braintree']>): Html {
  return html`${table('Braintree customers', braintree.customers, {
    id: ({ id }) => id,
    name: ({ firstName, lastName }) => [firstName, lastName].filter(Boolean).join(' '),
    'e-mail': ({ email }) => email,
  })}
  ${table('Braintree subscriptions', braintree.subscriptions, {
    id: ({ id }) => id,
    plan: ({ planId }) => planId,
    status: ({ status }) => status,
    'next billing': ({ nextBillingDate }) => nextBillingDate,
  })}
  ${table('Braintree transactions', braintree.transactions, {
    id: ({ id }) => id,
    type: ({ type }) => type,
    status: ({ status }) => status,
    amount: ({ amount }) => amount,
    customer: ({ customer }) => customer?.id,
  })}`
}
