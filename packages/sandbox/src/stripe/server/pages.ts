import { type Html, html, page } from '../../core/html.ts'
import type { HttpRequest, HttpResponse } from '../../core/http.ts'
import { completeCheckout } from '../resources/checkout-completion.ts'
import { finishAuthentication } from '../resources/payment-confirmation.ts'
import { finishSetupAuthentication } from '../resources/setup-intents.ts'
import type { StripeContext } from '../state/context.ts'
import { inOneStep, UnitOfWork } from '../state/unit-of-work.ts'
import { updateSubscription } from '../subscriptions/subscription-update.ts'
import { StripeFault } from '../wire/errors.ts'
import { formatAmount } from '../wire/money.ts'

type Page = (id: string, form: URLSearchParams, work: UnitOfWork, posted: boolean) => HttpResponse

/** The hosted pages, as small as they can be: a customer's side of the payment. */
const PAGES: Readonly<Record<string, Page>> = {
  authenticate: authenticatePage,
  checkout: checkoutPage,
  invoices: invoicePage,
  portal: portalPage,
  receipts: receiptPage,
}

export function servePage(request: HttpRequest, context: StripeContext): HttpResponse {
  const [, , name = '', id = ''] = request.path.split('/')
  const handler = Object.hasOwn(PAGES, name) ? PAGES[name] : undefined
  if (!handler) return show(404, 'Not found', html`<p>There is no such page.</p>`)
  const form = new URLSearchParams(request.query)
  const posted = request.method === 'POST'
  if (posted)
    for (const [key, value] of new URLSearchParams(request.body.toString('utf8')))
      form.set(key, value)
  try {
    return inOneStep(new UnitOfWork(context), (work) => handler(id, form, work, posted))
  } catch (error) {
    if (!(error instanceof StripeFault)) throw error
    return show(
      error.status,
      'Something went wrong',
      html`<p class="note" role="alert">${error.message}</p>`,
    )
  }
}

function show(status: number, title: string, body: Html): HttpResponse {
  return {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; form-action *",
    },
    body: page(title, html`<h1>${title}</h1>${body}`),
  }
}

function redirect(url: string): HttpResponse {
  return { status: 303, headers: { location: url } }
}

function authenticatePage(
  id: string,
  form: URLSearchParams,
  work: UnitOfWork,
  posted: boolean,
): HttpResponse {
  const setup = id.startsWith('seti_')
  const intent = setup ? work.require('setup_intent', id) : work.require('payment_intent', id)
  if (form.get('client_secret') !== intent.client_secret) {
    return show(403, 'Not allowed', html`<p>The link is not complete.</p>`)
  }
  if (!posted) {
    return show(
      200,
      '3-D Secure',
      html`<p>Your bank asks you to approve this ${setup ? 'card' : 'payment'}.</p>
      <form method="post"><input type="hidden" name="client_secret" value="${intent.client_secret}">
      <button name="answer" value="complete">Complete</button><button name="answer" value="fail">Fail</button></form>`,
    )
  }
  const passed = form.get('answer') === 'complete'
  const { returnUrl } = intent.$
  if (setup) finishSetupAuthentication(work, id, passed)
  else finishAuthentication(work, id, passed)
  if (returnUrl === null)
    return show(200, passed ? 'Approved' : 'Refused', html`<p>You can close this page.</p>`)
  const url = new URL(returnUrl)
  url.searchParams.set(setup ? 'setup_intent' : 'payment_intent', id)
  url.searchParams.set('redirect_status', passed ? 'succeeded' : 'failed')
  return redirect(url.href)
}

function checkoutPage(
  id: string,
  form: URLSearchParams,
  work: UnitOfWork,
  posted: boolean,
): HttpResponse {
  const session = work.require('checkout.session', id)
  if (session.status !== 'open')
    return show(410, 'Checkout', html`<p>This session is ${session.status}.</p>`)
  if (posted) {
    const email = form.get('email')
    completeCheckout(work, id, {
      paymentMethod: form.get('card') ?? 'pm_card_visa',
      ...(email ? { email } : {}),
    })
    return redirect((session.success_url ?? '/').replace('{CHECKOUT_SESSION_ID}', id))
  }
  const rows = session.$.items.map((item) => {
    const price = work.find('price', item.price)
    const name = work.find('product', price?.product ?? '')?.name
    return html`<tr><td>${item.quantity} × ${name}</td><td>${formatAmount((price?.unit_amount ?? 0) * item.quantity, price?.currency ?? 'usd')}</td></tr>`
  })
  return show(
    200,
    'Checkout',
    html`<table>${rows}</table><p>Total: ${formatAmount(session.amount_total ?? 0, session.currency ?? 'usd')}</p>
    <form method="post">
    <label>E-mail <input name="email" type="email" value="${session.customer_email ?? ''}"></label>
    <label>Card <select name="card"><option value="pm_card_visa">Visa 4242</option><option value="pm_card_mastercard">Mastercard 4444</option><option value="pm_card_chargeCustomerFail">Declines</option></select></label>
    <button>${session.mode === 'subscription' ? 'Subscribe' : session.mode === 'setup' ? 'Save card' : 'Pay'}</button></form>
    ${session.cancel_url ? html`<p><a href="${session.cancel_url}">Back</a></p>` : ''}`,
  )
}

function portalPage(
  id: string,
  form: URLSearchParams,
  work: UnitOfWork,
  posted: boolean,
): HttpResponse {
  const session = work.require('billing_portal.session', id)
  if (form.get('token') !== session.$.token)
    return show(403, 'Not allowed', html`<p>The link is not complete.</p>`)
  const own = work.findBy('subscription', 'customer', session.customer).reverse()
  if (posted) {
    const chosen = own.find((subscription) => subscription.id === form.get('subscription'))
    if (chosen)
      updateSubscription(work, chosen, { cancel_at_period_end: form.get('action') === 'cancel' })
    return redirect(`/pages/portal/${id}?token=${session.$.token}`)
  }
  const rows = own.map(
    (subscription) =>
      html`<tr><td><code>${subscription.id}</code></td><td>${subscription.status}</td><td>${
        subscription.ended_at
          ? ''
          : html`<form method="post"><input type="hidden" name="token" value="${session.$.token}"><input type="hidden" name="subscription" value="${subscription.id}"><button name="action" value="${subscription.cancel_at_period_end ? 'resume' : 'cancel'}">${subscription.cancel_at_period_end ? 'Resume' : 'Cancel'}</button></form>`
      }</td></tr>`,
  )
  return show(
    200,
    'Billing',
    html`<table>${rows}</table>${session.return_url ? html`<p><a href="${session.return_url}">Return</a></p>` : ''}`,
  )
}

function invoicePage(id: string, _form: URLSearchParams, work: UnitOfWork): HttpResponse {
  const invoice = work.require('invoice', id)
  const lines = work.findBy('line_item', 'invoice', id)
  return show(
    200,
    `Invoice ${invoice.number ?? ''}`,
    html`<table>${lines.map((line) => html`<tr><td>${line.description}</td><td>${formatAmount(line.amount, line.currency)}</td></tr>`)}</table>
    <p>Total ${formatAmount(invoice.total, invoice.currency)}; due ${formatAmount(invoice.amount_remaining, invoice.currency)}; ${invoice.status}.</p>`,
  )
}

function receiptPage(id: string, _form: URLSearchParams, work: UnitOfWork): HttpResponse {
  const charge = work.require('charge', id)
  return show(200, 'Receipt', html`<p>${formatAmount(charge.amount, charge.currency)} paid.</p>`)
}
