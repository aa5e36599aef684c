import type Stripe from 'stripe'
import type { CustomerRow, TaxIdRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { createInvalidRequestFault } from '../wire/errors.ts'

type Type = Stripe.TaxIdCreateParams['type']
export interface NewTaxId {
  readonly type: Type
  readonly value: string
}
type Status = NonNullable<TaxIdRow['verification']>['status']

/** Types of tax ids that Stripe verifies with an authority. Others get the status `unavailable`. */
const VERIFIED_TYPES: readonly string[] = ['au_abn', 'eu_vat', 'gb_vat']

/** Stripe's test values for verification results, valid for any type. */
const TEST_VALUES: Readonly<Record<string, Status>> = {
  '000000000': 'verified',
  '111111111': 'unverified',
  '222222222': 'pending',
}

/** Formats of common types of tax ids. Other types accept any text. */
const PATTERNS: Readonly<Record<string, RegExp>> = {
  au_abn: /^\d{11}$/,
  ch_vat: /^CHE-?\d{3}\.?\d{3}\.?\d{3} ?(MWST|TVA|IVA)$/,
  eu_vat: /^[A-Z]{2}[A-Z0-9+*]{2,12}$/,
  gb_vat: /^(GB|XI)\d{9}(\d{3})?$/,
  us_ein: /^\d{2}-?\d{7}$/,
}

/** Adds a tax id to a customer, or to the account if `owner` is `null`. */
export function addTaxId(
  work: UnitOfWork,
  owner: CustomerRow | null,
  params: NewTaxId,
  param = 'value',
): TaxIdRow {
  const { type, value } = params
  const known = TEST_VALUES[value]
  if (known === undefined && PATTERNS[type]?.test(value) === false) {
    throw createInvalidRequestFault(`Invalid value for ${type}.`, param, 'tax_id_invalid')
  }
  const status = VERIFIED_TYPES.includes(type) ? 'pending' : 'unavailable'
  const row = work.insert('tax_id', {
    id: work.newId('txi_1'),
    object: 'tax_id',
    country: known === undefined ? countryOf(type, value) : null,
    created: work.now,
    customer: owner?.id ?? null,
    customer_account: null,
    livemode: false,
    owner: owner
      ? { customer: owner.id, customer_account: null, type: 'customer' }
      : { customer_account: null, type: 'self' },
    type,
    value,
    verification: owner ? { status, ...unverifiedDetails() } : null,
  })
  if (!owner) return row
  work.edit('customer', owner).$.taxIds = [...(owner.$.taxIds ?? []), row.id]
  work.emit('customer.tax_id.created', 'tax_id', row)
  return row
}

/**
 * Sets the result of the verification of a tax id. This happens after the tax id was returned as
 * pending.
 */
export function verifyTaxId(work: UnitOfWork, row: TaxIdRow): void {
  const status = TEST_VALUES[row.value] ?? 'pending'
  if (row.verification?.status !== 'pending' || status === 'pending') return
  const previous = { verification: { ...row.verification } }
  work.edit('tax_id', row).verification =
    status === 'verified'
      ? { status, verified_address: '1 Test Street', verified_name: 'Test' }
      : { status, ...unverifiedDetails() }
  work.emit('customer.tax_id.updated', 'tax_id', row, previous)
}

export function removeTaxId(work: UnitOfWork, row: TaxIdRow): void {
  const owner = work.find('customer', row.customer ?? '')
  if (owner) {
    work.edit('customer', owner).$.taxIds = owner.$.taxIds?.filter((id) => id !== row.id) ?? []
    work.emit('customer.tax_id.deleted', 'tax_id', row)
  }
  work.remove('tax_id', row)
}

/** Returns a customer's tax ids, oldest first. */
export function listCustomerTaxIds(work: UnitOfWork, customer: CustomerRow): TaxIdRow[] {
  return (customer.$.taxIds ?? []).map((id) => work.require('tax_id', id))
}

function unverifiedDetails() {
  return { verified_address: null, verified_name: null }
}

/** Returns the country of a tax id: from its type, or for `eu_vat` from its value. */
function countryOf(type: string, value: string): string {
  if (type !== 'eu_vat') return type.slice(0, 2).toUpperCase()
  const country = value.slice(0, 2)
  return country === 'EL' ? 'GR' : country
}
