import { type Html, html } from '@tollgate/http'
import { isSubscriptionEnding } from '../../resources/billing-portal-actions.ts'
import type { PaymentMethodRow, SubscriptionRow } from '../../state/rows.ts'
import { hasEnded } from '../../state/subscription-status.ts'
import { listSubscriptionItems } from '../../subscriptions/subscription-swap.ts'
import { formatAmount } from '../../wire/money.ts'
import { describeCard } from './cards.ts'
import { describePrice } from './checkout-view.ts'
import { formatUnixDate, renderAlert, renderHiddenFields } from './page.ts'
import type { PortalViewData } from './portal-state.ts'

/**
 * Renders the first page of the customer portal, with everything that the portal's configuration
 * allows.
 */
export function renderPortalHome(viewed: PortalViewData): Html {
  const { work, customer, configuration, session, problem } = viewed
  const { features } = configuration
  const own = work.findBy('subscription', 'customer', customer.id).reverse()
  const living = own.filter((subscription) => !hasEnded(subscription))
  return html`${renderAlert(problem)}<section><h1>Subscriptions</h1>
  ${configuration.business_profile.headline ? html`<p class="soft">${configuration.business_profile.headline}</p>` : ''}
  ${living.length === 0 ? html`<p>You have no subscription.</p>` : living.map((each) => subscriptionView(viewed, each))}</section>
  ${features.payment_method_update.enabled ? cardsView(viewed) : ''}
  ${features.customer_update.enabled ? detailsView(viewed) : ''}
  ${features.invoice_history.enabled ? invoicesView(viewed) : ''}
  ${session.return_url ? html`<p><a href="${session.return_url}">Return</a></p>` : ''}`
}

function subscriptionView(viewed: PortalViewData, subscription: SubscriptionRow): Html {
  const { work, session, configuration } = viewed
  const { subscription_cancel: cancel, subscription_update: update } = configuration.features
  const items = listSubscriptionItems(work, subscription)
  const token = { token: session.$.token, subscription: subscription.id }
  const link = (view: string, text: string) =>
    html`<a class="button quiet" href="${buildPortalLink(viewed, view, subscription.id)}">${text}</a>`
  const renew = html`<form method="post">${renderHiddenFields({ ...token, action: 'renew' })}<button class="quiet">Renew</button></form>`
  return html`<article><p>${items.map((item) => {
    const price = work.require('price', item.price)
    return html`<strong>${work.find('product', price.product)?.name}</strong> ${item.quantity} × ${describePrice(price, subscription.currency)}<br>`
  })}<span class="soft">${describeStatus(subscription, items[0]?.current_period_end ?? 0)}. <code>${subscription.id}</code></span></p>
  <div class="row">${update.enabled && items.length === 1 ? link('subscription_update', 'Update plan') : ''}
  ${!cancel.enabled ? '' : isSubscriptionEnding(subscription) ? renew : link('subscription_cancel', 'Cancel')}</div></article>`
}

function describeStatus(subscription: SubscriptionRow, end: number): string {
  if (subscription.cancel_at !== null) return `Ends on ${formatUnixDate(subscription.cancel_at)}`
  if (subscription.status === 'trialing') return `Trial until ${formatUnixDate(end)}`
  if (subscription.status === 'active') return `Renews on ${formatUnixDate(end)}`
  return subscription.status.replaceAll('_', ' ')
}

export function buildPortalLink({ home }: PortalViewData, view: string, subscription = ''): string {
  return `${home}&view=${view}${subscription ? `&subscription=${subscription}` : ''}`
}

function cardsView(viewed: PortalViewData): Html {
  const { work, customer } = viewed
  const cards = work.findBy('payment_method', 'customer', customer.id)
  return html`<section><h2>Payment methods</h2><ul class="list">${cards.map((card) => cardRow(viewed, card))}</ul>
  <p><a class="button quiet" href="${buildPortalLink(viewed, 'payment_method_update')}">Add a card</a></p></section>`
}

function cardRow({ session, customer }: PortalViewData, card: PaymentMethodRow): Html {
  const isDefault = customer.invoice_settings.default_payment_method === card.id
  const button = (action: string, text: string) =>
    html`<form method="post">${renderHiddenFields({ token: session.$.token, method: card.id, action })}<button class="quiet" aria-label="${text}: ${describeCard(card)}">${text}</button></form>`
  return html`<li><span>${describeCard(card)}${isDefault ? html` <span class="badge">Default</span>` : ''}</span>
  ${isDefault ? '' : button('default-card', 'Make default')}${button('remove-card', 'Remove')}</li>`
}

function detailsView(viewed: PortalViewData): Html {
  const { customer } = viewed
  return html`<section><h2>Billing details</h2><p>${customer.name}<br>${customer.email}<br>${customer.phone}</p>
  <p><a class="button quiet" href="${buildPortalLink(viewed, 'customer_update')}">Update details</a></p></section>`
}

function invoicesView({ work, customer }: PortalViewData): Html {
  const invoices = work
    .findBy('invoice', 'customer', customer.id)
    .filter((invoice) => invoice.status !== 'draft')
    .reverse()
  const rows = invoices.map(
    (invoice) =>
      html`<tr><td><a href="${invoice.hosted_invoice_url}">${invoice.number}</a><p class="soft">${formatUnixDate(invoice.created)}, ${invoice.status}</p></td><td class="amount">${formatAmount(invoice.total, invoice.currency)}</td></tr>`,
  )
  return html`<section><h2>Invoices</h2>${rows.length === 0 ? html`<p>There are none yet.</p>` : html`<table>${rows}</table>`}</section>`
}
