import { type Html, html } from '@tollgate/http'
import { type InspectedDelivery, inspectDelivery } from '../model/delivery.ts'
import { renderJson, renderText } from '../parts/code.ts'
import {
  renderBadge,
  renderEmptyNote,
  renderReturnField,
  renderStatusBadge,
  renderTime,
} from '../parts/elements.ts'
import { renderTable } from '../parts/table.ts'
import { definePage } from './page.ts'

export const deliveryPage = definePage(
  ({ sandbox, params }) => inspectDelivery(sandbox, params.id ?? ''),
  (data, { path }) => ({
    title: data.eventType,
    badge: renderStatusBadge(data.state),
    lead: html`${data.provider} to <code>${data.url}</code>`,
    body: html`<div class="aside"><div class="stack"><section class="card"><h2>Attempts</h2>${attempts(data)}</section>
<section class="card"><h2>Payload</h2>${payload(data)}</section>
<section class="card"><h2>Send the webhook manually</h2><details><summary>curl command</summary>${renderText(data.curl, 'curl command')}</details></section></div>
<div class="stack">${facts(data, path)}${signature(data)}</div></div>`,
  }),
)

function attempts({ attempts, dueAt }: InspectedDelivery): Html {
  const next =
    dueAt !== null &&
    html`<p class="quiet">The next attempt is due at ${renderTime(new Date(dueAt).toISOString())}.</p>`
  if (attempts.length === 0) return html`${renderEmptyNote('Not sent yet.')}${next}`
  return html`${renderTable('Attempts', attempts, {
    At: ({ at }) => renderTime(new Date(at).toISOString()),
    Result: ({ status, error }) =>
      status === null
        ? html`${renderBadge('no response', 'bad')} ${error}`
        : renderBadge(String(status), status >= 200 && status < 300 ? 'good' : 'bad'),
    Response: ({ response }) => response ?? '',
  })}${next}`
}

function payload({ payload, eventId, provider }: InspectedDelivery): Html {
  const link = provider === 'stripe' && html`<p><a href="/events/${eventId}">Event</a></p>`
  if (payload.format === 'xml') return renderText(payload.text, 'Payload')
  return html`${link}${renderJson(JSON.parse(payload.text), 'Payload')}`
}

function facts(
  { id, eventId, createdAt, headers, corrupt, duplicate }: InspectedDelivery,
  path: string,
): Html {
  return html`<section class="card"><h2>Delivery</h2><dl class="facts"><dt>Id</dt><dd><code>${id}</code></dd><dt>Event</dt><dd><code>${eventId}</code></dd>
<dt>Created</dt><dd>${renderTime(new Date(createdAt).toISOString())}</dd>${Object.entries(headers).map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>
${duplicate && html`<p>This is the second copy of the webhook, made by the simulated fault “Duplicate”.</p>`}${corrupt && html`<p>The first attempt sends a corrupted body, because of the simulated fault “Corrupt the first attempt”.</p>`}
<form method="post" action="/redeliver">${renderReturnField(path)}<input type="hidden" name="id" value="${id}"><button class="primary">Send again</button></form></section>`
}

function signature({ signature, corrupt, attempts }: InspectedDelivery): Html {
  const { name, value, secret, isRight } = signature
  const damaged = corrupt && attempts.length === 1
  return html`<section class="card"><h2>Signature</h2>${
    isRight !== null &&
    html`<p>${isRight ? renderBadge('valid', 'good') : renderBadge('invalid', 'bad')} ${
      isRight
        ? 'The signature matches the payload and the secret.'
        : 'The signature was made with another secret.'
    }${damaged && ' The body was corrupted afterwards, so receivers reject it.'}</p>`
  }
<dl class="facts"><dt>${name}</dt><dd><code>${value ?? 'created when the webhook is sent'}</code></dd><dt>Secret</dt><dd><code>${secret ?? 'the endpoint was deleted'}</code></dd></dl>
${
  name === 'Stripe-Signature'
    ? html`<p class="quiet">HMAC-SHA256 of <code>t</code>, a dot and the body, where <code>t</code> is the real time of the attempt. The SDK rejects signatures older than five minutes.</p>`
    : html`<p class="quiet">HMAC-SHA1 of <code>bt_payload</code>, keyed with the SHA-1 of the private key.</p>`
}</section>`
}
