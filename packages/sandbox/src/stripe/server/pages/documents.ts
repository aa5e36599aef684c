import { type Html, html } from '@tollgate/http'
import type { HttpResponse } from '../../../core/http.ts'
import { resolvePaymentMethod } from '../../payments/new-payment-method.ts'
import { confirmIntent } from '../../resources/payment-confirmation.ts'
import type { InvoiceRow } from '../../state/rows.ts'
import { runAtomically, UnitOfWork } from '../../state/unit-of-work.ts'
import { createInvalidRequestFault, StripeFault } from '../../wire/errors.ts'
import { formatAmount } from '../../wire/money.ts'
import {
  CHALLENGE_FAILED,
  isCardChallenged,
  renderCardField,
  renderChallengeForm,
} from './cards.ts'
import {
  createNoticeResponse,
  createPageResponse,
  type PageRequest,
  redirectResponse,
  renderAlert,
} from './page.ts'

/** Serves the page of an invoice. While the invoice is open, the page has a payment form. */
export function renderInvoicePage(request: PageRequest): HttpResponse {
  const { context, id, form, posted } = request
  const work = new UnitOfWork(context, { about: [id] })
  const invoice = work.require('invoice', id)
  if (!posted) return draw(request, 200, null)
  if (invoice.status !== 'open') return redirectResponse(`/pages/invoices/${id}`)
  const card = form.get('card') ?? 'pm_card_visa'
  const answer = form.get('challenge')
  if (answer === 'fail') return draw(request, 402, CHALLENGE_FAILED)
  if (answer === null && isCardChallenged(work, card)) {
    return createPageResponse(200, '3-D Secure', renderChallengeForm(Object.fromEntries(form)))
  }
  try {
    runAtomically(new UnitOfWork(context, { about: [id] }), (step) =>
      payOpen(step, step.require('invoice', id), { card, isApproved: answer === 'complete' }),
    )
  } catch (error) {
    if (!(error instanceof StripeFault)) throw error
    return draw(request, error.status, error.message)
  }
  return redirectResponse(`/pages/invoices/${id}`)
}

/**
 * Pays an open invoice through its own payment intent, with the customer present (on-session). The
 * card is not saved.
 */
function payOpen(
  work: UnitOfWork,
  invoice: InvoiceRow,
  { card, isApproved }: { readonly card: string; readonly isApproved: boolean },
): void {
  const method = resolvePaymentMethod(work, card, 'payment_method')
  if (method.customer !== null && method.customer !== invoice.customer) {
    throw createInvalidRequestFault(
      'The payment method you provided is not attached to the customer of this invoice.',
      'payment_method',
    )
  }
  const intent = work.require('payment_intent', invoice.$.paymentIntent ?? '')
  work.edit('payment_intent', intent)
  intent.payment_method = method.id
  intent.$.authenticated = isApproved
  confirmIntent(work, intent, { use_stripe_sdk: true })
}

function draw(
  { context, id, form }: PageRequest,
  status: number,
  problem: string | null,
): HttpResponse {
  const work = new UnitOfWork(context, { about: [id] })
  const invoice = work.require('invoice', id)
  const amount = (value: number) => formatAmount(value, invoice.currency)
  const lines = work.findBy('line_item', 'invoice', id).sort((a, b) => a.$.order - b.$.order)
  const title = `Invoice ${invoice.number ?? ''}`
  return createPageResponse(
    status,
    title,
    html`<section><h1>${title}</h1><p class="soft">${invoice.status}</p><table>${lines.map((line) =>
      row(line.description, amount(line.amount)),
    )}${row('Total', amount(invoice.total))}${row('Amount due', amount(invoice.amount_remaining))}</table></section>
    ${invoice.status === 'open' ? payForm(work, invoice, form, problem) : ''}`,
  )
}

function payForm(
  work: UnitOfWork,
  invoice: InvoiceRow,
  form: URLSearchParams,
  problem: string | null,
): Html {
  const saved = work.findBy('payment_method', 'customer', invoice.customer ?? '')
  return html`<section><h2>Pay by card</h2>${renderAlert(problem)}<form method="post">${renderCardField(saved, form.get('card'))}
  <button class="wide">Pay ${formatAmount(invoice.amount_remaining, invoice.currency)}</button></form></section>`
}

export function renderCreditNotePage({ context, id }: PageRequest): HttpResponse {
  const work = new UnitOfWork(context, { about: [id] })
  const note = work.require('credit_note', id)
  const amount = (value: number) => formatAmount(value, note.currency)
  const { number } = work.require('invoice', note.invoice)
  const lines = note.$.lines.map((line) => work.require('credit_note_line_item', line))
  const title = `Credit note ${note.number}`
  return createPageResponse(
    200,
    title,
    html`<section><h1>${title}</h1><p class="soft">For invoice ${number}; ${note.status}</p><table>${lines.map(
      (line) => row(line.description, amount(line.amount)),
    )}${row('Total credited', amount(note.total))}</table></section>`,
  )
}

function row(name: string | null, amount: string): Html {
  return html`<tr><td>${name}</td><td class="amount">${amount}</td></tr>`
}

export function renderReceiptPage({ context, id }: PageRequest): HttpResponse {
  const charge = new UnitOfWork(context).require('charge', id)
  return createNoticeResponse(
    200,
    'Receipt',
    `${formatAmount(charge.amount, charge.currency)} paid.`,
  )
}
