import { type Html, html, page } from '../core/html.ts'
import type { HttpResponse } from '../core/http.ts'
import { CALL_TROUBLES, UNITS } from './actions.ts'
import { braintreeTables } from './braintree-tables.ts'
import type { ControlRoomState } from './state.ts'
import { stripeTables } from './stripe-tables.ts'
import { moment, table } from './table.ts'

export function controlRoomPage(state: ControlRoomState): HttpResponse {
  const { now, switches, failedJobs, stripe, braintree, deliveries } = state
  const checkbox = (name: 'duplicate' | 'drop' | 'corrupt' | 'reorder') =>
    html`<label><input type="checkbox" name="${name}"${switches[name] ? html` checked` : ''}> ${name}</label>`
  const body = html`<h1>Control room</h1>
  <p class="note">The clock shows <strong><time datetime="${now}">${now}</time></strong>.</p>
  <form method="post" action="/advance"><label>Advance <input name="count" type="number" min="0" value="1"></label>
  <select name="unit" aria-label="Unit">${UNITS.map((unit) => html`<option${unit === 'months' ? html` selected` : ''}>${unit}</option>`)}</select><button>Advance</button></form>
  <form method="post" action="/advance-to"><label>Advance to <input name="date" value="${now}"></label><button>Advance</button></form>
  <form method="post" action="/save"><button>Save the state file</button></form>
  ${failedJobs.length > 0 ? failedJobsTable(failedJobs) : ''}
  <h2>Trouble</h2>
  <form method="post" action="/fail"><label>Fail the next <input name="count" type="number" min="1" value="1"></label> calls with
  <select name="kind" aria-label="Kind">${CALL_TROUBLES.map((kind) => html`<option>${kind}</option>`)}</select><button>Arm</button></form>
  <form method="post" action="/decline"><label>Decline the next charge of <input name="customer" placeholder="customer id" required></label>
  <label>with <input name="code" value="insufficient_funds"></label><button>Arm</button></form>
  <form method="post" action="/deliveries">Deliveries: ${checkbox('duplicate')}${checkbox('drop')}${checkbox('corrupt')}${checkbox('reorder')}
  <label>delay (s) <input name="delay" type="number" min="0" value="${switches.delaySeconds ?? 0}"></label><button>Set</button></form>
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
