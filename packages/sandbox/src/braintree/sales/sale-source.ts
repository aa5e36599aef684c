import { CONTACT_PARTS, checkPhone, NO_CONTACT, readPhone } from '../state/contact.ts'
import type { BraintreeContext } from '../state/context.ts'
import type {
  BillingAddress,
  CustomerRow,
  CustomerSnapshot,
  PaymentInstrument,
  PaymentMethodRow,
  ThreeDSecureInfo,
} from '../state/rows/vault.ts'
import { createUnusedCustomerId } from '../vault/customer-params.ts'
import type { SubmittedPaymentMethod } from '../vault/nonces.ts'
import { findNonce } from '../vault/nonces.ts'
import {
  checkNewPaymentMethodToken,
  readMethodFromNumber,
  storePaymentMethod,
} from '../vault/vault.ts'
import type { RequestFields } from '../wire/validation.ts'

/** The payment method and the customer that a sale charges. */
export interface SaleSource {
  readonly customer: CustomerSnapshot | null
  readonly token: string | null
  readonly instrument: PaymentInstrument
  readonly alwaysFailsWith: string | null
  readonly threeDSecure?: ThreeDSecureInfo
  readonly consume: () => void
  /**
   * Stores the sale's payment method in the vault, together with a new customer if necessary.
   * `null` if the payment method cannot be stored.
   */
  readonly keep: ((billing: BillingAddress | null) => PaymentMethodRow) | null
}

/** A customer in the vault, or a new one. */
type SaleCustomer = CustomerSnapshot & { readonly newId?: string | null }

/**
 * Finds the payment method that a sale charges: by token, nonce or card number, or the customer's
 * default payment method.
 */
export function readSaleSource(
  context: BraintreeContext,
  fields: RequestFields,
): SaleSource | null {
  const token = fields.text('payment_method_token')
  const nonce = fields.text('payment_method_nonce')
  const customer = readCustomer(context, fields)
  if (token !== null && nonce !== null) {
    fields.addError('base', '91515')
    return null
  }
  if (token !== null) return findSourceByToken(context, token, fields)
  if (nonce !== null) return findSourceByNonce(context, nonce, fields, customer)
  const card = fields.object('credit_card')
  if (!card.isBlank('number') || card.has('expiration_date')) {
    checkNewPaymentMethodToken(context, card)
    const offered = readMethodFromNumber(card)
    const wantedToken = card.text('token')
    return offered && fromSubmittedMethod(context, { ...offered, wantedToken }, customer)
  }
  if (fields.isBlank('customer_id')) fields.addError('base', '91508')
  else if (customer?.id) return findDefaultSource(context, customer.id, fields)
  return null
}

/**
 * Reads the customer, named by id or described in the call. An `id` in the description is the id of
 * a new customer.
 */
function readCustomer(context: BraintreeContext, fields: RequestFields): SaleCustomer | null {
  const id = fields.text('customer_id')
  const given = fields.object('customer')
  const internationalPhone = given.has('international_phone') ? readPhone(given) : null
  checkPhone(given, internationalPhone)
  if (id !== null) {
    const row = context.tables.customers.get(id)
    if (!row) fields.addError('customer_id', '91510')
    return row ?? null
  }
  if (fields.isBlank('customer')) return null
  const newId = given.newId('id', NEW_ID_CODES, (id) => context.tables.customers.has(id))
  const customer: SaleCustomer = { ...NO_CONTACT, internationalPhone, id: null, newId }
  for (const [key, [name]] of Object.entries(CONTACT_PARTS)) customer[name] = given.text(key)
  return customer
}

const NEW_ID_CODES = { invalid: '91610', 'too-long': '91612', taken: '91609' }

function findSourceByToken(
  context: BraintreeContext,
  token: string,
  fields: RequestFields,
): SaleSource | null {
  const row = context.tables.paymentMethods.get(token)
  const customerId = fields.text('customer_id')
  if (customerId !== null && row?.customerId !== customerId) fields.addError('base', '91516')
  if (!row) fields.addError('payment_method_token', '91518')
  return row ? fromStoredMethod(context, row, () => undefined) : null
}

function findSourceByNonce(
  context: BraintreeContext,
  nonce: string,
  fields: RequestFields,
  customer: SaleCustomer | null,
): SaleSource | null {
  const use = findNonce(context, nonce)
  if (use.outcome === 'usable') {
    const row = use.token === null ? undefined : context.tables.paymentMethods.get(use.token)
    return row
      ? fromStoredMethod(context, row, use.consume)
      : fromSubmittedMethod(context, use, customer)
  }
  if (use.outcome === 'luhn-invalid') fields.object('credit_card').addError('number', '81715')
  else fields.addError('payment_method_nonce', use.outcome === 'consumed' ? '91564' : '91565')
  return null
}

function findDefaultSource(
  context: BraintreeContext,
  customerId: string,
  fields: RequestFields,
): SaleSource | null {
  const rows = context.tables.paymentMethods.findBy('customer', customerId)
  const row = rows.find((method) => method.isDefault)
  if (!row) fields.addError('base', '91511')
  return row ? fromStoredMethod(context, row, () => undefined) : null
}

function fromStoredMethod(
  context: BraintreeContext,
  row: PaymentMethodRow,
  consume: () => void,
): SaleSource {
  const { token, instrument, alwaysFailsWith } = row
  const customer = context.tables.customers.get(row.customerId) ?? null
  return { customer, token, instrument, alwaysFailsWith, consume, keep: () => row }
}

function fromSubmittedMethod(
  context: BraintreeContext,
  offered: SubmittedPaymentMethod & { readonly oneTime?: boolean },
  customer: SaleCustomer | null,
): SaleSource {
  const { instrument, alwaysFailsWith, consume } = offered
  const keep = (billing: BillingAddress | null) => {
    const customerId = customer?.id ?? createCustomer(context, customer).id
    const again = {
      ...offered,
      billingAddress: billing ?? offered.billingAddress ?? null,
      consume: () => undefined,
    }
    return storePaymentMethod(context, again, {
      customerId,
      token: null,
      makeDefault: false,
      verifications: [],
    })
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

function createCustomer(context: BraintreeContext, saleCustomer: SaleCustomer | null): CustomerRow {
  const now = context.clock.nowMs()
  const { newId, ...details } = saleCustomer ?? {}
  const row: CustomerRow = {
    ...NO_CONTACT,
    ...details,
    internationalPhone: saleCustomer?.internationalPhone ?? null,
    id: newId ?? createUnusedCustomerId(context),
    customFields: {},
    createdAt: now,
    updatedAt: now,
  }
  context.tables.customers.set(row.id, row)
  return row
}
