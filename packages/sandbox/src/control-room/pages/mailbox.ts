import { html } from '@tollgate/http'
import { renderEmptyNote, renderReturnField, renderTime } from '../parts/elements.ts'
import { renderTable } from '../parts/table.ts'
import { definePage, type PageRequest } from './page.ts'

const SHOWN = 200

function read({ sandbox: { mail } }: PageRequest) {
  const all = mail?.messages() ?? []
  const newest = all.slice(-SHOWN).reverse()
  return {
    server: mail?.url ?? null,
    fault: mail?.fault() ?? null,
    count: all.length,
    messages: newest.map(({ raw: _raw, attachments, ...mail }) => ({
      ...mail,
      receivedAt: mail.receivedAt.toISOString(),
      attachments: attachments.map(({ name, type, content }) => ({
        name,
        type,
        size: content.length,
      })),
    })),
  }
}

type Data = ReturnType<typeof read>

export const mailboxPage = definePage(read, (data, { path }) => ({
  title: 'Mail',
  lead:
    data.server === null
      ? 'This sandbox was started without a mail server.'
      : html`Mail to any address that your application sent through <code>${data.server}</code>. The sandbox does not forward it.`,
  body: html`<section class="card">${list(data, path)}</section>`,
}))

function list({ messages, count, server }: Data, path: string) {
  if (server === null) {
    return html`<p class="empty">Start one with the option <code>mail</code> or the flag <code>--mail-port</code>.</p>`
  }
  if (messages.length === 0) return renderEmptyNote('No mail has arrived yet.')
  return html`${renderTable('Mail', messages, {
    Subject: ({ id, subject }) => html`<a href="/mail/${id}">${subject || '(no subject)'}</a>`,
    To: ({ to }) => to.join(', '),
    Received: ({ receivedAt }) => renderTime(receivedAt),
  })}${count > messages.length && html`<p class="quiet">The newest ${messages.length} of ${count}.</p>`}
<form method="post" action="/delete-mail">${renderReturnField(path)}<button class="danger">Delete all</button></form>`
}
