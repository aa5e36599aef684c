import type { BraintreeContext } from '../state/context.ts'
import { checkPhone, readPhone } from '../state/phones.ts'
import type {
  Address,
  CustomerRow,
  CustomerSnapshot,
  Instrument,
  PaymentMethodRow,
  ThreeDSecureInfo,
} from '../state/rows/vault.ts'
import { BLANK, freshCustomerId } from '../vault/customer-params.ts'
import { findNonce } from '../vault/nonces.ts'
import { checkToken, type Offered, offeredByNumber, store } from '../vault/vault.ts'
import type { ErrorCollector } from '../wire/errors.ts'
import { type Fields, isId } from '../wire/validation.ts'

const PATH = ['transaction']

/** What a sale is charged to, and for whom. */
export interface SaleSource {
  readonly customer: CustomerSnapshot | null
  readonly token: string | null
  readonly instrument: Instrument
  readonly alwaysFailsWith: string | null
  readonly threeDSecure?: ThreeDSecureInfo
  readonly consume: () => void
  /** Puts it into the vault, with its customer if that is new; null for what cannot be kept. */
  readonly keep: ((billing: Address | null) => PaymentMethodRow) | null
}

/** A customer of the vault, or one that would be new there. */
type GivenCustomer = CustomerSnapshot & { readonly newId?: string | null }

/** By token, nonce, card number, or the customer's default method. */
export function readSaleSource(
  context: BraintreeContext,
  fields: Fields,
  errors: ErrorCollector,
): SaleSource | null {
  const token = fields.text('payment_method_token')
  const nonce = fields.text('payment_method_nonce')
  const customer = readCustomer(context, fields, errors)
  if (token !== null && nonce !== null) {
    errors.add(PATH, 'base', '91515')
    return null
  }
  if (token !== null) return byToken(context, token, fields, errors)
  if (nonce !== null) return byNonce(context, nonce, customer, errors)
  const card = fields.object('credit_card')
  if (!card.isBlank('number') || card.has('expiration_date')) {
    const wantedToken = card.text('token')
    checkToken(context, wantedToken, [...PATH, 'credit_card'], errors)
    const offered = offeredByNumber(card, [...PATH, 'credit_card'], errors)
    return offered && fresh(context, { ...offered, wantedToken }, customer)
  }
  if (fields.isBlank('customer_id')) errors.add(PATH, 'base', '91508')
  else if (customer?.id) return byDefault(context, customer.id, errors)
  return null
}

/** The customer named by id, or described in the call. `id` inside is that of a new one. */
function readCustomer(
  context: BraintreeContext,
  fields: Fields,
  errors: ErrorCollector,
): GivenCustomer | null {
  const id = fields.text('customer_id')
  const given = fields.object('customer')
  const internationalPhone = given.has('international_phone') ? readPhone(given) : null
  checkPhone(internationalPhone, [...PATH, 'customer'], errors)
  if (id !== null) {
    const row = context.tables.customers.get(id)
    if (!row) errors.add(PATH, 'customer_id', '91510')
    return row ?? null
  }
  if (fields.isBlank('customer')) return null
  checkNewId(context, given, errors)
  return {
    id: null,
    newId: given.text('id'),
    firstName: given.text('first_name'),
    lastName: given.text('last_name'),
    company: given.text('company'),
    email: given.text('email'),
    phone: given.text('phone'),
    fax: given.text('fax'),
    website: given.text('website'),
    internationalPhone,
  }
}

function checkNewId(context: BraintreeContext, given: Fields, errors: ErrorCollector): void {
  const id = given.text('id')
  if (id === null) return
  const path = [...PATH, 'customer']
  if (!isId(id)) errors.add(path, 'id', '91610')
  else if (id.length > 36) errors.add(path, 'id', '91612')
  else if (context.tables.customers.has(id)) errors.add(path, 'id', '91609')
}

function byToken(
  context: BraintreeContext,
  token: string,
  fields: Fields,
  errors: ErrorCollector,
): SaleSource | null {
  const row = context.tables.paymentMethods.get(token)
  const customerId = fields.text('customer_id')
  if (customerId !== null && row?.customerId !== customerId) errors.add(PATH, 'base', '91516')
  if (!row) errors.add(PATH, 'payment_method_token', '91518')
  return row ? stored(context, row, () => undefined) : null
}

function byNonce(
  context: BraintreeContext,
  nonce: string,
  customer: GivenCustomer | null,
  errors: ErrorCollector,
): SaleSource | null {
  const use = findNonce(context, nonce)
  switch (use.outcome) {
    case 'consumed':
      errors.add(PATH, 'payment_method_nonce', '91564')
      return null
    case 'unknown':
      errors.add(PATH, 'payment_method_nonce', '91565')
      return null
    case 'luhn-invalid':
      errors.add([...PATH, 'credit_card'], 'number', '81715')
      return null
    case 'usable': {
      const row = use.token === null ? undefined : context.tables.paymentMethods.get(use.token)
      return row ? stored(context, row, use.consume) : fresh(context, use, customer)
    }
  }
}

function byDefault(
  context: BraintreeContext,
  customerId: string,
  errors: ErrorCollector,
): SaleSource | null {
  const rows = context.tables.paymentMethods.findBy('customer', customerId)
  const row = rows.find((method) => method.isDefault)
  if (!row) errors.add(PATH, 'base', '91511')
  return row ? stored(context, row, () => undefined) : null
}

function stored(context: BraintreeContext, row: PaymentMethodRow, consume: () => void): SaleSource {
  const { token, instrument, alwaysFailsWith } = row
  const customer = context.tables.customers.get(row.customerId) ?? null
  return { customer, token, instrument, alwaysFailsWith, consume, keep: () => row }
}

function fresh(
  context: BraintreeContext,
  offered: Offered & { readonly oneTime?: boolean },
  customer: GivenCustomer | null,
): SaleSource {
  const { instrument, alwaysFailsWith, consume } = offered
  const keep = (billing: Address | null) => {
    const customerId = customer?.id ?? createCustomer(context, customer).id
    const again = {
      ...offered,
      billingAddress: billing ?? offered.billingAddress ?? null,
      consume: () => undefined,
    }
    return store(context, again, { customerId, token: null, makeDefault: false, verifications: [] })
  }
  return {
    customer,
    token: null,
    instrument,
    alwaysFailsWith,
    ...(offered.threeDSecure ? { threeDSecure: offered.threeDSecure } : {}),
    consume,
    keep: offered.oneTime ? null : keep,
  }
}

function createCustomer(context: BraintreeContext, given: GivenCustomer | null): CustomerRow {
  const now = context.clock.nowMs()
  const { newId, ...details } = given ?? {}
  const row: CustomerRow = {
    ...BLANK,
    ...details,
    internationalPhone: given?.internationalPhone ?? null,
    id: newId ?? freshCustomerId(context),
    customFields: {},
    createdAt: now,
    updatedAt: now,
  }
  context.tables.customers.set(row.id, row)
  return row
}
