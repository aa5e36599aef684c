import { type Html, html } from '../../core/html.ts'
import { type InspectedDelivery, inspectDelivery } from '../model/delivery.ts'
import { backField, badge, empty, moment, statusBadge } from '../parts/bits.ts'
import { jsonView, textView } from '../parts/code.ts'
import { table } from '../parts/table.ts'
import { definePage } from './page.ts'

export const deliveryPage = definePage(
  ({ watched, params }) => inspectDelivery(watched, params.id ?? ''),
  (data, { path }) => ({
    title: data.eventType,
    badge: statusBadge(data.state),
    lead: html`${data.provider} to <code>${data.url}</code>`,
    body: html`<div class="aside"><div class="stack"><section class="card"><h2>Attempts</h2>${attempts(data)}</section>
<section class="card"><h2>Payload</h2>${payload(data)}</section>
<section class="card"><h2>Send it by hand</h2><details><summary>A command for curl</summary>${textView(data.curl, 'Command for curl')}</details></section></div>
<div class="stack">${facts(data, path)}${signature(data)}</div></div>`,
  }),
)

function attempts({ attempts, dueAt }: InspectedDelivery): Html {
  const next =
    dueAt !== null &&
    html`<p class="quiet">The next attempt is due at ${moment(new Date(dueAt).toISOString())}.</p>`
  if (attempts.length === 0) return html`${empty('Nothing has been sent.')}${next}`
  return html`${table('Attempts', attempts, {
    At: ({ at }) => moment(new Date(at).toISOString()),
    Result: ({ status, error }) =>
      status === null
        ? html`${badge('no response', 'bad')} ${error}`
        : badge(String(status), status >= 200 && status < 300 ? 'good' : 'bad'),
    'It said': ({ response }) => response ?? '',
  })}${next}`
}

function payload({ payload, eventId, provider }: InspectedDelivery): Html {
  const link = provider === 'stripe' && html`<p><a href="/events/${eventId}">The event</a></p>`
  if (payload.format === 'xml') return textView(payload.text, 'Payload')
  return html`${link}${jsonView(JSON.parse(payload.text), 'Payload')}`
}

function facts(
  { id, eventId, createdAt, headers, corrupt, duplicate }: InspectedDelivery,
  path: string,
): Html {
  return html`<section class="card"><h2>Delivery</h2><dl class="facts"><dt>Id</dt><dd><code>${id}</code></dd><dt>Event</dt><dd><code>${eventId}</code></dd>
<dt>Made</dt><dd>${moment(new Date(createdAt).toISOString())}</dd>${Object.entries(headers).map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>
${duplicate && html`<p>The second copy: a switch doubled it.</p>`}${corrupt && html`<p>Its first attempt carried a damaged body, as a switch ordered.</p>`}
<form method="post" action="/redeliver">${backField(path)}<input type="hidden" name="id" value="${id}"><button class="primary">Send again</button></form></section>`
}

function signature({ signature, corrupt, attempts }: InspectedDelivery): Html {
  const { name, value, secret, isRight } = signature
  const damaged = corrupt && attempts.length === 1
  return html`<section class="card"><h2>Signature</h2>${
    isRight !== null &&
    html`<p>${isRight ? badge('right', 'good') : badge('wrong', 'bad')} ${
      isRight ? 'It fits the payload and the secret.' : 'It was made with another secret.'
    }${damaged && ' What was sent was damaged afterwards, so a receiver refuses it.'}</p>`
  }
<dl class="facts"><dt>${name}</dt><dd><code>${value ?? 'made when it is sent'}</code></dd><dt>Secret</dt><dd><code>${secret ?? 'its endpoint is gone'}</code></dd></dl>
${
  name === 'Stripe-Signature'
    ? html`<p class="quiet">HMAC-SHA256 of <code>t</code>, a dot and the body, at the sandbox's time. The SDK refuses one that is five minutes old by your clock: give it the sandbox's.</p>`
    : html`<p class="quiet">HMAC-SHA1 of <code>bt_payload</code>, keyed with the SHA-1 of the private key.</p>`
}</section>`
}
