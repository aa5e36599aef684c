import type { BraintreeContext } from '../state/context.ts'
import { checkPhone, readPhone } from '../state/phones.ts'
import type { CustomerRow, PaymentMethodRow, TaxIdentifier } from '../state/rows/vault.ts'
import type { ErrorCollector } from '../wire/errors.ts'
import { checkLength, Fields, isId, permitted } from '../wire/validation.ts'
import { readBillingAddress } from './addresses.ts'
import { readCustomFields } from './custom-fields.ts'
import { readUpdate } from './payment-method-update.ts'
import { checkCardPassThru } from './three-d-secure.ts'
import {
  checkDuplicate,
  checkToken,
  type Offered,
  offeredByNonce,
  offeredByNumber,
  payPalAccount,
  store,
} from './vault.ts'
import { verifyCard } from './verification.ts'

const PATH = ['customer']
const CARD_PATH = ['customer', 'credit_card']
const NONCE_CODES = { consumed: '91731', unknown: '91732' }
const KEYS = permitted(
  `id company email fax first_name last_name international_phone phone website device_data
   device_session_id fraud_merchant_id payment_method_nonce risk_data credit_card custom_fields
   default_payment_method_token options paypal_account tax_identifiers`,
)
const TAX_KEYS = permitted('country_code identifier')
const PAYPAL_KEYS = permitted(
  'access_token billing_agreement_id consent_code email options payer_id token',
)
const CARD_KEYS = permitted(
  `token cardholder_name cvv expiration_date expiration_month expiration_year number
   payment_method_nonce options billing_address billing_address_id three_d_secure_pass_thru`,
)
const LENGTHS = {
  first_name: '81608',
  last_name: '81613',
  company: '81601',
  phone: '81614',
  fax: '81607',
  website: '81615',
  email: '81605',
}

export const BLANK = {
  firstName: null,
  lastName: null,
  company: null,
  email: null,
  phone: null,
  fax: null,
  website: null,
  internationalPhone: null,
}

export function freshCustomerId(context: BraintreeContext): string {
  for (;;) {
    const id = `1${context.store.randomText(9, '0123456789')}`
    if (!context.tables.customers.has(id)) return id
  }
}

const COLUMNS = {
  first_name: 'firstName',
  last_name: 'lastName',
  company: 'company',
  email: 'email',
  phone: 'phone',
  fax: 'fax',
  website: 'website',
} as const

export function readDetails(
  context: BraintreeContext,
  fields: Fields,
  errors: ErrorCollector,
): Partial<CustomerRow> {
  fields.permit(KEYS)
  const details: Partial<CustomerRow> = {}
  for (const [key, code] of Object.entries(LENGTHS)) {
    checkLength(fields, key, { path: PATH, longest: 255, code }, errors)
  }
  for (const [key, column] of Object.entries(COLUMNS)) {
    if (fields.has(key)) details[column] = fields.text(key)
  }
  if (fields.has('international_phone')) details.internationalPhone = readPhone(fields)
  checkPhone(details.internationalPhone ?? null, PATH, errors)
  if (fields.has('tax_identifiers')) details.taxIdentifiers = readTaxIdentifiers(fields)
  const email = fields.text('email')
  if (email !== null && !/^[^@\s]+@[^@\s]+\.[^@\s]+$/.test(email))
    errors.add(PATH, 'email', '81604')
  if (fields.has('custom_fields')) {
    details.customFields = readCustomFields(
      context,
      fields.object('custom_fields'),
      { path: PATH, invalid: '91602', tooLong: '81603' },
      errors,
    )
  }
  return details
}

/** Braintree keeps these and shows them to nobody. */
function readTaxIdentifiers(fields: Fields): TaxIdentifier[] {
  return fields.list('tax_identifiers').map((given) => {
    const one = new Fields(given)
    one.permit(TAX_KEYS)
    return { countryCode: one.text('country_code'), identifier: one.text('identifier') }
  })
}

export function checkId(
  context: BraintreeContext,
  fields: Fields,
  own: string | null,
  errors: ErrorCollector,
): string | null {
  const id = fields.text('id')
  if (id === null || id === own) return id
  if (!isId(id)) errors.add(PATH, 'id', '91610')
  else if (id.length > 36) errors.add(PATH, 'id', '91612')
  else if (id === 'all' || id === 'new') errors.add(PATH, 'id', '91611')
  else if (context.tables.customers.has(id)) errors.add(PATH, 'id', '91609')
  return id
}

/** The stored method that becomes the customer's default; null when none was named. */
export function readDefaultMethod(
  context: BraintreeContext,
  fields: Fields,
  customer: CustomerRow | null,
  errors: ErrorCollector,
): PaymentMethodRow | null {
  const token = fields.text('default_payment_method_token')
  if (token === null) return null
  const row = context.tables.paymentMethods.get(token)
  if (row && row.customerId === customer?.id) return row
  errors.add(PATH, 'default_payment_method_token', '91518')
  return null
}

/** What the call does with a payment method, checked. It happens when `apply` is called. */
export type CardPart = (customerId: string) => void

/**
 * The payment method that comes with the customer: by nonce, by nonce inside, or by number; or the
 * stored one that `update_existing_token` names and the rest changes.
 */
export function readCardPart(
  context: BraintreeContext,
  fields: Fields,
  customer: CustomerRow | null,
  errors: ErrorCollector,
): CardPart | null {
  const card = fields.object('credit_card')
  card.permit(CARD_KEYS)
  const existing = card.object('options').text('update_existing_token')
  return existing === null
    ? readNewCard(context, fields, customer, errors)
    : readExistingCard(context, { card, token: existing }, customer, errors)
}

function readNewCard(
  context: BraintreeContext,
  fields: Fields,
  customer: CustomerRow | null,
  errors: ErrorCollector,
): CardPart | null {
  const card = fields.object('credit_card')
  const options = card.object('options')
  const token = card.text('token')
  const outer = fields.text('payment_method_nonce')
  const nonce = outer ?? card.text('payment_method_nonce')
  let offered: Offered | null = null
  if (nonce !== null) {
    const path = outer === null ? CARD_PATH : PATH
    const place = { path, codes: NONCE_CODES, paypal: [...PATH, 'paypal_account'] }
    offered = offeredByNonce(context, nonce, place, errors)
  } else if (!fields.isBlank('paypal_account')) {
    offered = readPayPal(context, fields.object('paypal_account'), errors)
  } else if (!card.isBlank('number') || card.has('expiration_date') || card.has('cvv')) {
    offered = offeredByNumber(card, CARD_PATH, errors)
  }
  const customerId = customer?.id ?? null
  const rule = { path: CARD_PATH, customerId }
  const billingAddress = readBillingAddress(context, card, rule, errors)
  checkCardPassThru(card, offered, errors)
  if (!offered) return null
  checkToken(context, token, CARD_PATH, errors)
  checkDuplicate(context, offered, { options, customerId, path: CARD_PATH }, errors)
  const kept = offered
  return (id) => {
    const verifications = verifyCard(context, kept, options, CARD_PATH)
    const wantsDefault = customer === null || (options.flag('make_default') ?? false)
    const as = { customerId: id, token, makeDefault: wantsDefault, verifications, billingAddress }
    store(context, kept, as)
  }
}

/** An account by what PayPal gave; one that may be charged once cannot be kept. */
function readPayPal(
  context: BraintreeContext,
  given: Fields,
  errors: ErrorCollector,
): Offered | null {
  given.permit(PAYPAL_KEYS)
  const path = [...PATH, 'paypal_account']
  checkToken(context, given.text('token'), path, errors, '92906')
  if (given.isBlank('consent_code') && given.isBlank('billing_agreement_id')) {
    errors.add(path, 'base', '82902')
    return null
  }
  const [email, payerId, token] = [given.text('email'), given.text('payer_id'), given.text('token')]
  return payPalAccount(context, { email, payerId, token })
}

function readExistingCard(
  context: BraintreeContext,
  { card, token }: { card: Fields; token: string },
  customer: CustomerRow | null,
  errors: ErrorCollector,
): CardPart | null {
  const row = context.tables.paymentMethods.get(token)
  if (customer && row?.customerId === customer.id) {
    return readUpdate(context, row, { fields: card, path: CARD_PATH }, errors)
  }
  const code = customer ? '91723' : '91729'
  errors.add([...CARD_PATH, 'options'], 'update_existing_token', code)
  return null
}
