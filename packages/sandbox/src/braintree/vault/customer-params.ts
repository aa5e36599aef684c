import { CONTACT_PARTS, checkPhone, readPhone } from '../state/contact.ts'
import type { BraintreeContext } from '../state/context.ts'
import type { CustomerRow, PaymentMethodRow, TaxIdentifier } from '../state/rows/vault.ts'
import { parsePermittedKeys, type RequestFields } from '../wire/validation.ts'
import { readBillingAddress } from './addresses.ts'
import { readCustomFields } from './custom-fields.ts'
import type { SubmittedPaymentMethod } from './nonces.ts'
import { parsePaymentMethodUpdate } from './payment-method-update.ts'
import { checkCardPassThru } from './three-d-secure.ts'
import {
  checkNewPaymentMethodToken,
  createPayPalAccount,
  PAYPAL_TOKEN_TAKEN_CODE,
  readMethodFromNumber,
  rejectDuplicateCard,
  storePaymentMethod,
  takeMethodFromNonce,
} from './vault.ts'
import { verifyCard } from './verification.ts'

const NONCE_CODES = { consumed: '91731', unknown: '91732' }
const KEYS = parsePermittedKeys(
  `id company email fax first_name last_name international_phone phone website device_data
   device_session_id fraud_merchant_id payment_method_nonce risk_data credit_card custom_fields
   default_payment_method_token options paypal_account tax_identifiers`,
)
const TAX_KEYS = parsePermittedKeys('country_code identifier')
const PAYPAL_KEYS = parsePermittedKeys(
  'access_token billing_agreement_id consent_code email options payer_id token',
)
const CARD_KEYS = parsePermittedKeys(
  `token cardholder_name cvv expiration_date expiration_month expiration_year number
   payment_method_nonce options billing_address billing_address_id three_d_secure_pass_thru`,
)
export function createUnusedCustomerId(context: BraintreeContext): string {
  for (;;) {
    const id = `1${context.store.randomText(9, '0123456789')}`
    if (!context.tables.customers.has(id)) return id
  }
}

export function parseCustomerDetails(
  context: BraintreeContext,
  fields: RequestFields,
): Partial<CustomerRow> {
  fields.permit(KEYS)
  const details: Partial<CustomerRow> = {}
  for (const [key, [name, code]] of Object.entries(CONTACT_PARTS)) {
    fields.checkLength(key, 255, code)
    if (fields.has(key)) details[name] = fields.text(key)
  }
  if (fields.has('international_phone')) details.internationalPhone = readPhone(fields)
  checkPhone(fields, details.internationalPhone ?? null)
  if (fields.has('tax_identifiers')) details.taxIdentifiers = readTaxIdentifiers(fields)
  fields.check('email', (email) => /^[^@\s]+@[^@\s]+\.[^@\s]+$/.test(email), '81604')
  if (fields.has('custom_fields')) {
    const codes = { invalid: '91602', tooLong: '81603' }
    details.customFields = readCustomFields(context, fields, codes)
  }
  return details
}

/** Reads tax identifiers. Braintree stores them but no response contains them. */
function readTaxIdentifiers(fields: RequestFields): TaxIdentifier[] {
  return fields.objects('tax_identifiers').map((given) => {
    given.permit(TAX_KEYS)
    return { countryCode: given.text('country_code'), identifier: given.text('identifier') }
  })
}

const ID_CODES = { invalid: '91610', 'too-long': '91612', reserved: '91611', taken: '91609' }

/**
 * Reads the id that the caller chose for a customer. Returns `null` if none was sent. `own` is the
 * customer's present id, which is allowed.
 */
export function readCustomerId(
  context: BraintreeContext,
  fields: RequestFields,
  own: string | null,
): string | null {
  return fields.newId('id', ID_CODES, (id) => id !== own && context.tables.customers.has(id))
}

/**
 * Reads the payment method that a call makes the customer's default. Returns `null` if none was
 * named.
 */
export function readDefaultMethod(
  context: BraintreeContext,
  fields: RequestFields,
  customer: CustomerRow | null,
): PaymentMethodRow | null {
  const token = fields.text('default_payment_method_token')
  if (token === null) return null
  const row = context.tables.paymentMethods.get(token)
  if (row && row.customerId === customer?.id) return row
  fields.addError('default_payment_method_token', '91518')
  return null
}

/**
 * A function that stores or changes the payment method that was sent with a customer, after all
 * parameters have been validated.
 */
export type ApplyPaymentMethod = (customerId: string) => void

/**
 * Reads the payment method that was sent with a customer: a nonce, a card with a nonce or number,
 * or changes of the stored card that `update_existing_token` names. Returns a function that applies
 * it, or `null` if none was sent.
 */
export function readCustomerPaymentMethod(
  context: BraintreeContext,
  fields: RequestFields,
  customer: CustomerRow | null,
): ApplyPaymentMethod | null {
  const card = fields.object('credit_card')
  card.permit(CARD_KEYS)
  const existing = card.object('options').text('update_existing_token')
  return existing === null
    ? readNewCard(context, fields, customer)
    : readExistingCard(context, card, existing, customer)
}

function readNewCard(
  context: BraintreeContext,
  fields: RequestFields,
  customer: CustomerRow | null,
): ApplyPaymentMethod | null {
  const card = fields.object('credit_card')
  const token = card.text('token')
  const outer = fields.text('payment_method_nonce')
  const nonce = outer ?? card.text('payment_method_nonce')
  let offered: SubmittedPaymentMethod | null = null
  if (nonce !== null) {
    const place = {
      fields: outer === null ? card : fields,
      codes: NONCE_CODES,
      paypal: fields.object('paypal_account'),
    }
    offered = takeMethodFromNonce(context, nonce, place)
  } else if (!fields.isBlank('paypal_account')) {
    offered = readPayPal(context, fields.object('paypal_account'))
  } else if (!card.isBlank('number') || card.has('expiration_date') || card.has('cvv')) {
    offered = readMethodFromNumber(card)
  }
  const customerId = customer?.id ?? null
  const billingAddress = readBillingAddress(context, card, customerId)
  checkCardPassThru(card, offered)
  if (!offered) return null
  checkNewPaymentMethodToken(context, card)
  rejectDuplicateCard(context, offered, card, customerId)
  const kept = offered
  return (id) => {
    const verifications = verifyCard(context, kept, card)
    const wantsDefault = customer === null || (card.object('options').flag('make_default') ?? false)
    const as = { customerId: id, token, makeDefault: wantsDefault, verifications, billingAddress }
    storePaymentMethod(context, kept, as)
  }
}

/** Reads a PayPal account. An account approved for one payment cannot be stored. */
function readPayPal(
  context: BraintreeContext,
  payPalAccountFields: RequestFields,
): SubmittedPaymentMethod | null {
  payPalAccountFields.permit(PAYPAL_KEYS)
  checkNewPaymentMethodToken(context, payPalAccountFields, PAYPAL_TOKEN_TAKEN_CODE)
  if (
    payPalAccountFields.isBlank('consent_code') &&
    payPalAccountFields.isBlank('billing_agreement_id')
  ) {
    payPalAccountFields.addError('base', '82902')
    return null
  }
  const [email, payerId, token] = [
    payPalAccountFields.text('email'),
    payPalAccountFields.text('payer_id'),
    payPalAccountFields.text('token'),
  ]
  return createPayPalAccount(context, { email, payerId, token })
}

function readExistingCard(
  context: BraintreeContext,
  card: RequestFields,
  token: string,
  customer: CustomerRow | null,
): ApplyPaymentMethod | null {
  const row = context.tables.paymentMethods.get(token)
  if (customer && row?.customerId === customer.id) {
    return parsePaymentMethodUpdate(context, row, card)
  }
  card.object('options').addError('update_existing_token', customer ? '91723' : '91729')
  return null
}
