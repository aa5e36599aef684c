import { html } from '../../../core/html.ts'
import type { HttpResponse } from '../../../core/http.ts'
import { UnitOfWork } from '../../state/unit-of-work.ts'
import { formatAmount } from '../../wire/money.ts'
import { notice, type PageRequest, show } from './page.ts'

export function invoicePage({ context, id }: PageRequest): HttpResponse {
  const work = new UnitOfWork(context)
  const invoice = work.require('invoice', id)
  const amount = (value: number) => formatAmount(value, invoice.currency)
  const lines = work.findBy('line_item', 'invoice', id).sort((a, b) => a.$.order - b.$.order)
  const title = `Invoice ${invoice.number ?? ''}`
  return show(
    200,
    title,
    html`<section><h1>${title}</h1><table>${lines.map(
      (line) =>
        html`<tr><td>${line.description}</td><td class="amount">${amount(line.amount)}</td></tr>`,
    )}</table>
    <p>Total ${amount(invoice.total)}; due ${amount(invoice.amount_remaining)}; ${invoice.status}.</p></section>`,
  )
}

export function receiptPage({ context, id }: PageRequest): HttpResponse {
  const charge = new UnitOfWork(context).require('charge', id)
  return notice(200, 'Receipt', `${formatAmount(charge.amount, charge.currency)} paid.`)
}
