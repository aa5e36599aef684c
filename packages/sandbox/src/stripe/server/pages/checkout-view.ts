import { type Html, html } from '@tollgate/http'
import { findUnitAmount } from '../../catalog/currency-options.ts'
import { limitChosenQuantity } from '../../resources/checkout-changes.ts'
import { needsCard, toCheckoutOrder } from '../../resources/checkout-order.ts'
import type { CheckoutQuote } from '../../resources/checkout-quote.ts'
import type { CheckoutItem, CheckoutSessionRow, PriceRow } from '../../state/rows.ts'
import type { UnitOfWork } from '../../state/unit-of-work.ts'
import { formatAmount, formatDecimal } from '../../wire/money.ts'
import { renderCardField } from './cards.ts'
import { formatUnixDate, renderAlert } from './page.ts'

/** Renders the checkout page: the order on one side, the payment form on the other. */
export function renderCheckout(
  work: UnitOfWork,
  session: CheckoutSessionRow,
  quote: CheckoutQuote | null,
  form: URLSearchParams,
  problem: string | null,
): Html {
  const submit = session.custom_text.submit?.message
  const after = session.custom_text.after_submit?.message
  // Errors of the order, such as an invalid code, are shown beside the order.
  const paying = (form.get('action') ?? 'pay') === 'pay'
  return html`<div class="pair">${orderView(work, session, quote, paying ? null : problem)}
  <section><h2>${quote && quote.due === 0 ? 'Your details' : takesDebits(session) ? 'Pay' : 'Pay by card'}</h2>${renderAlert(paying ? problem : null)}
  <form method="post"><input type="hidden" name="action" value="pay">
  ${contactFields(work, session, form)}
  ${needsCard(session, quote) ? renderCardField(listSavedCards(work, session), form.get('card'), session.payment_method_types) : ''}
  ${addressFields(session, form)}${questionFields(session, form)}
  ${submit ? html`<p class="soft">${submit}</p>` : ''}
  <button class="wide">${buttonText(session, quote)}</button></form>
  ${after ? html`<p class="soft">${after}</p>` : ''}
  ${session.cancel_url ? html`<p><a href="${session.cancel_url}">Back</a></p>` : ''}</section></div>`
}

function takesDebits(session: CheckoutSessionRow): boolean {
  return session.payment_method_types.some((type) => type !== 'card')
}

const SUBMIT: Readonly<Record<string, string>> = {
  book: 'Book',
  donate: 'Donate',
  pay: 'Pay',
  subscribe: 'Subscribe',
}

function buttonText(session: CheckoutSessionRow, quote: CheckoutQuote | null): string {
  if (session.mode === 'setup') return 'Save card'
  const wanted = SUBMIT[session.submit_type ?? '']
  if (wanted) return wanted
  if (session.mode === 'subscription') return isTrial(session) ? 'Start trial' : 'Subscribe'
  return quote?.due === 0 ? 'Complete order' : 'Pay'
}

function isTrial(session: CheckoutSessionRow): boolean {
  const data = toCheckoutOrder(session).params.subscription_data
  return Boolean(data?.trial_end || data?.trial_period_days)
}

function orderView(
  work: UnitOfWork,
  session: CheckoutSessionRow,
  quote: CheckoutQuote | null,
  problem: string | null,
): Html {
  if (!quote) {
    return html`<section><h1>Save a card</h1><p class="soft">It will be used for payments to come.</p></section>`
  }
  const amount = (value: number) => formatAmount(value, quote.currency)
  const subscribes = session.mode === 'subscription'
  const pending = quote.lines.filter((line) => line.item === null)
  return html`<section><h1>${subscribes ? 'Subscribe' : 'Your order'}</h1>${renderAlert(problem)}
  <p class="sum">${amount(quote.due)}${subscribes ? html` <span class="soft">due today</span>` : ''}</p>
  <table>${session.$.items.map((item, at) => itemRow(work, session, item, at, quote))}
  ${pending.map((line) => html`<tr><td>${line.description}</td><td class="amount">${amount(line.subtotal)}</td></tr>`)}
  <tr class="ruled"><td>Subtotal</td><td class="amount">${amount(quote.subtotal)}</td></tr>
  ${discountRow(work, session, quote)}${taxRows(work, quote)}
  <tr class="ruled total"><td>Total</td><td class="amount" data-total>${amount(quote.total)}</td></tr>
  ${
    subscribes && quote.due !== quote.total
      ? html`<tr><td>Balance</td><td class="amount">${amount(quote.due - quote.total)}</td></tr>
      <tr class="total"><td>Due today</td><td class="amount">${amount(quote.due)}</td></tr>`
      : ''
  }</table>${taxForm(quote)}${codeForm(session)}</section>`
}

function itemRow(
  work: UnitOfWork,
  session: CheckoutSessionRow,
  item: CheckoutItem,
  at: number,
  quote: CheckoutQuote,
): Html {
  const price = work.require('price', item.price)
  const name = work.find('product', price.product)?.name ?? price.id
  const line = quote.lines.find((each) => each.item === at)
  return html`<tr><td>${item.quantity === null ? '' : `${item.quantity} × `}${name}<p class="soft">${describePrice(price, quote.currency)}${price.recurring ? trialText(work, session) : ''}</p>
  ${item.adjustable ? quantityForm(item, item.adjustable, at) : ''}</td>
  <td class="amount">${formatAmount(line?.subtotal ?? 0, quote.currency)}</td></tr>`
}

/** Describes a price with its billing interval, such as `$10.00 every 3 months`. */
export function describePrice(price: PriceRow, currency: string): string {
  const metered = price.recurring?.usage_type === 'metered'
  const decimal = findUnitAmount(price, currency)
  if (decimal === null) return metered ? 'billed by usage, in tiers' : 'priced in tiers'
  const amount = formatDecimal(decimal, currency)
  if (metered) return `${amount} each, billed by usage`
  if (!price.recurring) return `${amount} each`
  const { interval, interval_count: count } = price.recurring
  return count === 1 ? `${amount} per ${interval}` : `${amount} every ${count} ${interval}s`
}

function trialText(work: UnitOfWork, session: CheckoutSessionRow): string {
  const { trial_end: end, trial_period_days: days } =
    toCheckoutOrder(session).params.subscription_data ?? {}
  if (days) return `, free until ${formatUnixDate(work.now + days * 86_400)}`
  return end ? `, free until ${formatUnixDate(end)}` : ''
}

function quantityForm(
  item: CheckoutItem,
  adjustable: { minimum: number; maximum: number },
  at: number,
): Html {
  const { least, most } = limitChosenQuantity(adjustable)
  return html`<form method="post" class="row"><input type="hidden" name="action" value="quantity"><input type="hidden" name="item" value="${at}">
  <label>Quantity <input type="number" name="quantity" min="${least}" max="${most}" value="${item.quantity}" required></label><button class="quiet">Update</button></form>`
}

function discountRow(
  work: UnitOfWork,
  session: CheckoutSessionRow,
  quote: CheckoutQuote,
): Html | '' {
  const [discount] = session.discounts ?? []
  if (!discount) return ''
  const code = work.find('promotion_code', discount.promotion_code ?? '')
  const coupon = work.find('coupon', code?.promotion.coupon ?? discount.coupon ?? '')
  const name = code?.code ?? coupon?.name ?? coupon?.id
  return html`<tr><td>Discount: ${name}${
    session.allow_promotion_codes
      ? html`<form method="post"><button class="quiet" name="action" value="remove-code">Remove</button></form>`
      : ''
  }</td><td class="amount good">${formatAmount(-quote.discount, quote.currency)}</td></tr>`
}

function taxRows(work: UnitOfWork, quote: CheckoutQuote): Html[] {
  return quote.parts.taxes.map(({ rate: id, amount }) => {
    const rate = work.find('tax_rate', id)
    const name = `${rate?.display_name ?? 'Tax'} ${rate?.percentage ?? ''}%${rate?.inclusive ? ', included' : ''}`
    return html`<tr><td>${name}</td><td class="amount">${formatAmount(amount, quote.currency)}</td></tr>`
  })
}

/**
 * Renders the form for the address that the tax depends on. Empty if the address is known or not
 * needed. While the form is shown, the total contains no tax.
 */
function taxForm(quote: CheckoutQuote): Html | '' {
  if (quote.taxStatus !== 'requires_location_inputs') return ''
  return html`<p class="soft">Tax comes on top or is included, by where you are.</p>
  <form method="post" class="row"><input type="hidden" name="action" value="address">
  <label>Country, two letters <input name="country" required pattern="[A-Za-z]{2}" maxlength="2" autocomplete="country"></label>
  <label>Postal code <input name="postal_code" autocomplete="postal-code"></label><button class="quiet">Work out tax</button></form>`
}

function codeForm(session: CheckoutSessionRow): Html | '' {
  if (!session.allow_promotion_codes || session.discounts?.length) return ''
  return html`<form method="post" class="row"><input type="hidden" name="action" value="apply-code">
  <label>Promotion code <input name="code" required autocomplete="off"></label><button class="quiet">Apply</button></form>`
}

function listSavedCards(work: UnitOfWork, session: CheckoutSessionRow) {
  return session.customer ? work.findBy('payment_method', 'customer', session.customer) : []
}

function contactFields(work: UnitOfWork, session: CheckoutSessionRow, form: URLSearchParams): Html {
  const customer = work.find('customer', session.customer ?? '')
  const known = customer?.email ?? session.customer_email
  const phone = session.phone_number_collection?.enabled
  return html`<label>E-mail <input name="email" type="email" autocomplete="email" required value="${known ?? form.get('email') ?? ''}"${known ? html` readonly` : ''}></label>
  <label>Name <input name="name" autocomplete="name" value="${form.get('name') ?? customer?.name ?? ''}"></label>
  ${phone ? html`<label>Phone <input name="phone" type="tel" autocomplete="tel" required value="${form.get('phone') ?? ''}"></label>` : ''}`
}

function addressFields(session: CheckoutSessionRow, form: URLSearchParams): Html | '' {
  const { address: known } = session.customer_details ?? {}
  const required = session.billing_address_collection === 'required'
  if (!required && !session.automatic_tax.enabled) return ''
  const field = (label: string, name: 'line1' | 'city' | 'postal_code', auto: string) =>
    html`<label>${label} <input name="${name}" autocomplete="${auto}"${required ? html` required` : ''} value="${form.get(name) ?? known?.[name] ?? ''}"></label>`
  return html`${field('Address', 'line1', 'address-line1')}${field('City', 'city', 'address-level2')}${field('Postal code', 'postal_code', 'postal-code')}
  <label>Country, two letters <input name="country" autocomplete="country" required pattern="[A-Z]{2}" maxlength="2" value="${form.get('country') ?? known?.country ?? 'US'}"></label>`
}

/** Types of tax ids offered on the page. The API accepts more. */
const TAX_IDS: ReadonlyArray<readonly [string, string]> = [
  ['eu_vat', 'EU VAT number'],
  ['gb_vat', 'UK VAT number'],
  ['ch_vat', 'Swiss VAT number'],
  ['us_ein', 'US EIN'],
  ['au_abn', 'Australian ABN'],
  ['ca_gst_hst', 'Canadian GST/HST number'],
]

/** Renders the session's custom fields and other questions of the application. */
function questionFields(session: CheckoutSessionRow, form: URLSearchParams): Html {
  return html`${session.custom_fields.map((field) => customField(field, form))}
  ${session.tax_id_collection?.enabled ? taxIdFields(form) : ''}
  ${
    session.consent_collection?.terms_of_service === 'required'
      ? html`<label class="choice"><input type="checkbox" name="terms" required> <span>I accept the terms of service</span></label>`
      : ''
  }`
}

function customField(field: CheckoutSessionRow['custom_fields'][number], form: URLSearchParams) {
  const name = `field-${field.key}`
  const required = field.optional ? '' : html` required`
  const label = `${field.label.custom ?? field.key}${field.optional ? ', optional' : ''}`
  const { dropdown, numeric, text } = field
  if (dropdown) {
    const chosen = form.get(name) ?? dropdown.default_value
    return html`<label>${label} <select name="${name}"${required}><option value=""></option>${dropdown.options.map(
      (option) =>
        html`<option value="${option.value}"${option.value === chosen ? html` selected` : ''}>${option.label}</option>`,
    )}</select></label>`
  }
  const value = form.get(name) ?? numeric?.default_value ?? text?.default_value ?? ''
  return html`<label>${label} <input name="${name}"${numeric ? html` inputmode="numeric"` : ''} value="${value}"${required}></label>`
}

function taxIdFields(form: URLSearchParams): Html {
  return html`<label>Kind of tax id <select name="tax_id_type">${TAX_IDS.map(
    ([type, name]) =>
      html`<option value="${type}"${type === form.get('tax_id_type') ? html` selected` : ''}>${name}</option>`,
  )}</select></label>
  <label>Tax id, if you have one <input name="tax_id" autocomplete="off" value="${form.get('tax_id') ?? ''}"></label>`
}
