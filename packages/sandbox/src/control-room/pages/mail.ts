import { html } from '@tollgate/http'
import { renderText } from '../parts/code.ts'
import { renderBadge, renderTime } from '../parts/elements.ts'
import { definePage, type PageRequest } from './page.ts'

function read({ sandbox: { mail }, params }: PageRequest) {
  const found = mail?.find(params.id ?? '')
  if (!found) return null
  const { attachments, receivedAt, ...rest } = found
  return {
    ...rest,
    receivedAt: receivedAt.toISOString(),
    attachments: attachments.map(({ name, type, content }) => ({
      name,
      type,
      size: content.length,
    })),
  }
}

type Data = NonNullable<ReturnType<typeof read>>

export const mailPage = definePage(read, (data) => ({
  title: data.subject || '(no subject)',
  lead: html`To ${data.to.join(', ')}, ${renderTime(data.receivedAt)}`,
  body: html`<div class="aside"><div class="stack">
${data.html !== null && html`<section class="card"><h2>HTML</h2><iframe class="mail" title="HTML of the mail" sandbox="" src="/mail/${data.id}/html"></iframe></section>`}
${data.text !== null && html`<section class="card"><h2>Text</h2>${renderText(data.text, 'Text')}</section>`}</div>
<div class="stack">${facts(data)}${attachments(data)}
<section class="card"><h2>Headers</h2><dl class="facts">${data.headers.map(({ name, value }) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>
<p><a href="/mail/${data.id}/raw">Complete message</a></p></section></div></div>`,
}))

function facts({ from, to, isSecure, user }: Data) {
  return html`<section class="card"><h2>Envelope</h2><dl class="facts"><dt>From</dt><dd>${from}</dd><dt>To</dt><dd>${to.join(', ')}</dd>
<dt>Connection</dt><dd>${isSecure ? renderBadge('encrypted', 'good') : renderBadge('not encrypted', 'plain')}</dd>${user !== null && html`<dt>User</dt><dd>${user}</dd>`}</dl></section>`
}

function attachments({ id, attachments }: Data) {
  if (attachments.length === 0) return ''
  return html`<section class="card"><h2>Attachments</h2>${attachments.map(
    ({ name, type, size }, at) =>
      html`<p><a href="/mail/${id}/attachments/${at}">${name}</a><br><small>${type}, ${size} bytes</small></p>`,
  )}</section>`
}
