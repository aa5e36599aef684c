import { readAddress } from '../state/addresses.ts'
import type { BraintreeContext } from '../state/context.ts'
import type { Address, CustomerRow, PaymentMethodRow } from '../state/rows/vault.ts'
import type { ErrorCollector } from '../wire/errors.ts'
import { refuseUnsupported } from '../wire/unsupported.ts'
import { checkLength, type Fields, isId, permitted } from '../wire/validation.ts'
import { readCustomFields } from './custom-fields.ts'
import {
  checkDuplicate,
  checkToken,
  type Offered,
  offeredByNonce,
  offeredByNumber,
} from './vault.ts'

const PATH = ['customer']
const CARD_PATH = ['customer', 'credit_card']
const NONCE_CODES = { consumed: '91731', unknown: '91732' }
const KEYS = permitted(
  `id company email fax first_name last_name international_phone phone website device_data
   device_session_id fraud_merchant_id payment_method_nonce risk_data credit_card custom_fields
   default_payment_method_token options tax_identifiers`,
)
const UNSUPPORTED = permitted('tax_identifiers')
const CARD_KEYS = permitted(
  `token cardholder_name cvv expiration_date expiration_month expiration_year number
   payment_method_nonce options billing_address three_d_secure_pass_thru`,
)
const CARD_UNSUPPORTED = permitted('three_d_secure_pass_thru')
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
  refuseUnsupported(fields, 'customer', UNSUPPORTED)
  const details: Partial<CustomerRow> = {}
  for (const [key, code] of Object.entries(LENGTHS)) {
    checkLength(fields, key, { path: PATH, longest: 255, code }, errors)
  }
  for (const [key, column] of Object.entries(COLUMNS)) {
    if (fields.has(key)) details[column] = fields.text(key)
  }
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

export interface CardPart {
  readonly offered: Offered
  /** The card it takes the place of, instead of being added. */
  readonly replaces: PaymentMethodRow | null
  readonly token: string | null
  readonly options: Fields
  readonly billingAddress: Address | null
}

/** The payment method that comes with the customer: by nonce, by nonce inside, or by number. */
export function readCardPart(
  context: BraintreeContext,
  fields: Fields,
  customer: CustomerRow | null,
  errors: ErrorCollector,
): CardPart | null {
  const card = fields.object('credit_card')
  card.permit(CARD_KEYS)
  const options = card.object('options')
  const token = card.text('token')
  const outer = fields.text('payment_method_nonce')
  const nonce = outer ?? card.text('payment_method_nonce')
  let offered: Offered | null = null
  if (nonce !== null) {
    const path = outer === null ? CARD_PATH : PATH
    offered = offeredByNonce(context, nonce, { path, codes: NONCE_CODES }, errors)
  } else if (!card.isBlank('number') || card.has('expiration_date') || card.has('cvv')) {
    offered = offeredByNumber(card, CARD_PATH, errors)
  }
  if (!offered) return null
  const replaces = readReplaced(context, options, customer, errors)
  checkToken(context, token, CARD_PATH, errors)
  const customerId = customer?.id ?? null
  checkDuplicate(context, offered, { options, customerId, path: CARD_PATH }, errors)
  const billingAddress = readAddress(
    card.object('billing_address'),
    [...CARD_PATH, 'billing_address'],
    errors,
  )
  refuseUnsupported(card, 'customer[credit_card]', CARD_UNSUPPORTED)
  return { offered, replaces, token, options, billingAddress }
}

function readReplaced(
  context: BraintreeContext,
  options: Fields,
  customer: CustomerRow | null,
  errors: ErrorCollector,
): PaymentMethodRow | null {
  const token = options.text('update_existing_token')
  if (token === null) return null
  const path = [...CARD_PATH, 'options']
  const row = context.tables.paymentMethods.get(token)
  if (!customer) errors.add(path, 'update_existing_token', '91729')
  else if (row?.customerId !== customer.id) errors.add(path, 'update_existing_token', '91723')
  return row ?? null
}
