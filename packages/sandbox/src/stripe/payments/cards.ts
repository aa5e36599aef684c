import type Stripe from 'stripe'
import type { CustomerRow, PaymentMethodRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { createInvalidRequestFault, createNoSuchObjectFault } from '../wire/errors.ts'
import { mergeMetadata, pickSentFields } from '../wire/fields.ts'
import type { WireObject } from '../wire/wire-object.ts'
import { createCardFromToken } from './new-payment-method.ts'
import { checkAttachable, createEmptyAddress, detachFromCustomer } from './payment-methods.ts'

/**
 * Whether a payment method is a legacy card, the predecessor of payment methods. Each legacy card
 * is stored as a payment method whose id begins with `card_`, and can be charged like any other
 * payment method.
 */
export function isCardPaymentMethod(row: PaymentMethodRow): boolean {
  return row.id.startsWith('card_')
}

/** Returns a customer's legacy cards, oldest first. */
export function listCustomerCards(
  work: Pick<UnitOfWork, 'tables'>,
  customer: string,
): PaymentMethodRow[] {
  return work.tables.payment_method.findBy('customer', customer).filter(isCardPaymentMethod)
}

export function requireCard(
  work: UnitOfWork,
  customer: CustomerRow,
  id: string,
  param?: string,
): PaymentMethodRow {
  const row = work.find('payment_method', id)
  if (row?.customer === customer.id && isCardPaymentMethod(row)) return row
  throw createNoSuchObjectFault('source', id, param)
}

/**
 * Adds the card of a token to a customer's legacy cards. A customer's first card becomes the
 * default.
 */
export function addCard(
  work: UnitOfWork,
  customer: CustomerRow,
  params: Pick<Stripe.CustomerCreateSourceParams, 'metadata' | 'source' | 'validate'>,
): PaymentMethodRow {
  const card = createCardFromToken(work, params.source, 'source')
  const row: PaymentMethodRow = {
    ...card,
    id: work.find('token', params.source)?.card.id ?? work.newId('card_1'),
    customer: customer.id,
    metadata: mergeMetadata({}, params.metadata),
  }
  if (params.validate !== false) checkAttachable(row)
  work.insert('payment_method', row)
  work.emitObject('customer.source.created', renderLegacyCard(row))
  if (customer.default_source === null) work.edit('customer', customer).default_source = row.id
  return row
}

/** Replaces a customer's default legacy card with a new card and deletes the old one. */
export function replaceDefaultCard(work: UnitOfWork, customer: CustomerRow, source: string): void {
  const before = work.find('payment_method', customer.default_source ?? '')
  const row = addCard(work, customer, { source })
  work.edit('customer', customer).default_source = row.id
  if (before) removeCard(work, before)
}

export function updateCard(
  work: UnitOfWork,
  row: PaymentMethodRow,
  params: Stripe.CustomerUpdateSourceParams,
): void {
  work.editQuietly('payment_method', row)
  const { exp_month: month, exp_year: year } = params
  if (row.card && month !== undefined) row.card = { ...row.card, exp_month: readMonth(month) }
  if (row.card && year !== undefined) row.card = { ...row.card, exp_year: readYear(year) }
  const address = { ...createEmptyAddress(), ...row.billing_details.address }
  for (const part of ['city', 'country', 'line1', 'line2', 'state'] as const) {
    address[part] = params[`address_${part}`] ?? address[part]
  }
  address.postal_code = params.address_zip ?? address.postal_code
  row.billing_details = { ...row.billing_details, ...pickSentFields(params, 'name'), address }
  row.metadata = mergeMetadata(row.metadata, params.metadata)
  work.emitObject('customer.source.updated', renderLegacyCard(row))
}

function readMonth(text: string): number {
  const month = Number(text)
  if (Number.isInteger(month) && month >= 1 && month <= 12) return month
  throw createInvalidRequestFault(
    "Your card's expiration month is invalid.",
    'exp_month',
    'invalid_expiry_month',
  )
}

function readYear(text: string): number {
  const year = Number(text)
  if (Number.isInteger(year) && year >= 2000 && year <= 2100) return year
  throw createInvalidRequestFault(
    "Your card's expiration year is invalid.",
    'exp_year',
    'invalid_expiry_year',
  )
}

export function removeCard(work: UnitOfWork, row: PaymentMethodRow): void {
  const shown = renderLegacyCard(row)
  work.editQuietly('payment_method', row)
  detachFromCustomer(work, row)
  work.emitObject('customer.source.deleted', shown)
}

/** Renders a payment method in the format of a legacy card. */
export function renderLegacyCard(row: PaymentMethodRow): WireObject {
  const { card } = row
  const { address, name } = row.billing_details
  return {
    id: row.id,
    object: 'card',
    address_city: address?.city ?? null,
    address_country: address?.country ?? null,
    address_line1: address?.line1 ?? null,
    address_line1_check: card?.checks?.address_line1_check ?? null,
    address_line2: address?.line2 ?? null,
    address_state: address?.state ?? null,
    address_zip: address?.postal_code ?? null,
    address_zip_check: card?.checks?.address_postal_code_check ?? null,
    allow_redisplay: row.allow_redisplay,
    brand: BRANDS[card?.brand ?? ''] ?? 'Unknown',
    country: card?.country ?? null,
    customer: row.customer,
    cvc_check: card?.checks?.cvc_check ?? null,
    dynamic_last4: null,
    exp_month: card?.exp_month,
    exp_year: card?.exp_year,
    fingerprint: card?.fingerprint ?? null,
    funding: card?.funding,
    last4: card?.last4,
    metadata: row.metadata,
    name: name ?? null,
    regulated_status: card?.regulated_status ?? null,
    tokenization_method: null,
  }
}

/** Brand names of legacy cards, by the brand of the payment method. */
const BRANDS: Readonly<Record<string, string>> = {
  amex: 'American Express',
  diners: 'Diners Club',
  discover: 'Discover',
  jcb: 'JCB',
  mastercard: 'MasterCard',
  unionpay: 'UnionPay',
  visa: 'Visa',
}
