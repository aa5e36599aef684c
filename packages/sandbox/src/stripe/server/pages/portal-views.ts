import { type Html, html } from '@tollgate/http'
import { findPlanOffers, previewPlan } from '../../resources/billing-portal-actions.ts'
import { StripeFault } from '../../wire/errors.ts'
import { formatAmount } from '../../wire/money.ts'
import { renderCardField } from './cards.ts'
import { describePrice } from './checkout-view.ts'
import { formatUnixDate, renderAlert, renderHiddenFields } from './page.ts'
import {
  type PortalView,
  type PortalViewData,
  readChosenChange,
  requireChosenSubscription,
} from './portal-state.ts'

/** Pages of the customer portal, by the type of the flow that opens them directly. */
export const PORTAL_VIEWS: Readonly<Record<string, PortalView>> = {
  customer_update(viewed) {
    const { customer, configuration } = viewed
    const { allowed_updates: allowed } = configuration.features.customer_update
    const { address } = customer
    const field = (label: string, name: string, value: string | null | undefined, type = 'text') =>
      html`<label>${label} <input name="${name}" type="${type}" value="${value ?? ''}"></label>`
    return frame(
      viewed,
      'Billing details',
      html`<form method="post">${renderHiddenFields(fieldsOf(viewed, 'details'))}
      ${allowed.includes('email') ? field('E-mail', 'email', customer.email, 'email') : ''}
      ${allowed.includes('name') ? field('Name', 'name', customer.name) : ''}
      ${allowed.includes('phone') ? field('Phone', 'phone', customer.phone, 'tel') : ''}
      ${allowed.includes('address') ? html`${field('Address', 'line1', address?.line1)}${field('City', 'city', address?.city)}${field('Postal code', 'postal_code', address?.postal_code)}${field('Country, two letters', 'country', address?.country)}` : ''}
      <button class="wide">Save</button></form>`,
    )
  },

  payment_method_update: (viewed) =>
    frame(
      viewed,
      'Add a card',
      html`<p class="soft">It becomes the one your invoices are paid with.</p>
      <form method="post">${renderHiddenFields(fieldsOf(viewed, 'add-card'))}${renderCardField([], viewed.form.get('card'))}<button class="wide">Add card</button></form>`,
    ),

  subscription_cancel(viewed) {
    const { work, configuration, form, flow } = viewed
    const subscription = requireChosenSubscription(viewed, form)
    const { mode, cancellation_reason: reason } = configuration.features.subscription_cancel
    const [item] = work.findBy('subscription_item', 'subscription', subscription.id)
    const fields = { subscription: subscription.id }
    const when =
      mode === 'immediately'
        ? 'It ends at once.'
        : `It stays as it is until ${formatUnixDate(item?.current_period_end ?? 0)} and is not renewed.`
    const offer = flow?.subscription_cancel?.retention?.coupon_offer?.coupon
    const coupon = work.find('coupon', offer ?? '')
    return frame(
      viewed,
      'Cancel your subscription',
      html`<p>${when}</p>
      ${coupon ? html`<p>Stay, and get ${coupon.name ?? coupon.id}: ${coupon.percent_off === null ? formatAmount(coupon.amount_off ?? 0, coupon.currency ?? 'usd') : `${coupon.percent_off}%`} off.</p><form method="post">${renderHiddenFields({ ...fieldsOf(viewed, 'keep'), ...fields })}<button class="wide">Accept the offer</button></form>` : ''}
      <form method="post">${renderHiddenFields({ ...fieldsOf(viewed, 'cancel'), ...fields })}
      ${reason.enabled ? html`<label>Why are you leaving? <select name="feedback"><option value="">No answer</option>${reason.options.map((option) => html`<option value="${option}">${option.replaceAll('_', ' ')}</option>`)}</select></label><label>Anything else? <textarea name="comment"></textarea></label>` : ''}
      <button class="wide">Cancel subscription</button></form>`,
    )
  },

  subscription_update(viewed) {
    const { work, configuration, form, session } = viewed
    if (form.get('price') !== null) return confirmView(viewed)
    const subscription = requireChosenSubscription(viewed, form)
    const [item] = work.findBy('subscription_item', 'subscription', subscription.id)
    const { default_allowed_updates: allowed } = configuration.features.subscription_update
    const offers = findPlanOffers(work, subscription, configuration)
    return frame(
      viewed,
      'Update your plan',
      html`<form method="get">${renderHiddenFields({ token: session.$.token, view: 'subscription_update', subscription: subscription.id })}
      <fieldset><legend>Plan</legend>${offers.map(({ price }) => {
        const checked = price.id === item?.price
        return html`<label class="choice"><input type="radio" name="price" value="${price.id}"${checked ? html` checked` : ''}> <span><strong>${work.find('product', price.product)?.name}</strong> ${describePrice(price, subscription.currency)}${checked ? ', as now' : ''}</span></label>`
      })}</fieldset>
      ${offers.some(({ quantities }) => quantities) ? html`<label>Quantity <input type="number" name="quantity" min="1" value="${item?.quantity ?? 1}"></label>` : ''}
      ${allowed.includes('promotion_code') ? html`<label>Promotion code <input name="code" autocomplete="off"></label>` : ''}
      <button class="wide">Continue</button></form>`,
    )
  },

  subscription_update_confirm: confirmView,
}

function confirmView(viewed: PortalViewData): Html {
  const { work, configuration, form } = viewed
  const subscription = requireChosenSubscription(viewed, form)
  try {
    const change = readChosenChange(viewed, subscription, form)
    const preview = previewPlan(work.context, subscription.id, configuration, change)
    const price = work.require('price', change.price)
    const amount = (value: number) => formatAmount(value, preview.currency)
    return frame(
      viewed,
      'Confirm your update',
      html`<p><strong>${work.find('product', price.product)?.name}</strong> ${change.quantity} × ${describePrice(price, subscription.currency)}</p>
      <table><tr class="total"><td>Due today</td><td class="amount" data-due>${amount(preview.dueNow)}</td></tr>
      ${preview.next ? html`<tr class="ruled"><td>Next bill, ${formatUnixDate(preview.next.at)}</td><td class="amount" data-next>${amount(preview.next.total)}</td></tr>` : ''}</table>
      <form method="post">${renderHiddenFields({ ...fieldsOf(viewed, 'update'), subscription: subscription.id, price: change.price, quantity: String(change.quantity), code: form.get('code') ?? '' })}<button class="wide">Confirm</button></form>`,
    )
  } catch (error) {
    if (!(error instanceof StripeFault)) throw error
    return frame({ ...viewed, problem: error.message }, 'Confirm your update', html``)
  }
}

export function renderPortalDone(message: string, url: string | null): Html {
  return html`<section><h1>Thank you</h1><p>${message}</p>${url ? html`<p><a href="${url}">Return</a></p>` : ''}</section>`
}

/**
 * Renders a page of the portal. In a flow, its back link leads to the application, otherwise to the
 * portal's home page.
 */
function frame({ flow, session, home, problem }: PortalViewData, title: string, body: Html): Html {
  const back = flow ? session.return_url : home
  return html`<section><h1>${title}</h1>${renderAlert(problem)}${body}${back ? html`<p><a href="${back}">Back</a></p>` : ''}</section>`
}

function fieldsOf({ session }: PortalViewData, action: string): Record<string, string> {
  return { token: session.$.token, action }
}
