import { type Html, html } from '../../../core/html.ts'
import type { CheckoutSessionRow } from '../../state/rows.ts'

/** Kinds of tax ids the page offers; the API takes more. */
const TAX_IDS: ReadonlyArray<readonly [string, string]> = [
  ['eu_vat', 'EU VAT number'],
  ['gb_vat', 'UK VAT number'],
  ['ch_vat', 'Swiss VAT number'],
  ['us_ein', 'US EIN'],
  ['au_abn', 'Australian ABN'],
  ['ca_gst_hst', 'Canadian GST/HST number'],
]

/** What the application wants to know beside. */
export function questionFields(session: CheckoutSessionRow, form: URLSearchParams): Html {
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
