import type Stripe from 'stripe'
import type { CustomerRow, TaxIdRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { invalidRequest } from '../wire/errors.ts'

type Type = Stripe.TaxIdCreateParams['type']
export interface NewTaxId {
  readonly type: Type
  readonly value: string
}
type Status = NonNullable<TaxIdRow['verification']>['status']

/** Stripe asks the authority about these; about any other there is nobody to ask. */
const VERIFIED_TYPES: readonly string[] = ['au_abn', 'eu_vat', 'gb_vat']

/** Stripe's test values, of any type. */
const TEST_VALUES: Readonly<Record<string, Status>> = {
  '000000000': 'verified',
  '111111111': 'unverified',
  '222222222': 'pending',
}

/** What a value looks like, for the types people use most; of others any text is taken. */
const PATTERNS: Readonly<Record<string, RegExp>> = {
  au_abn: /^\d{11}$/,
  ch_vat: /^CHE-?\d{3}\.?\d{3}\.?\d{3} ?(MWST|TVA|IVA)$/,
  eu_vat: /^[A-Z]{2}[A-Z0-9+*]{2,12}$/,
  gb_vat: /^(GB|XI)\d{9}(\d{3})?$/,
  us_ein: /^\d{2}-?\d{7}$/,
}

/** A new tax id of a customer, or of the account when there is none. */
export function addTaxId(
  work: UnitOfWork,
  owner: CustomerRow | null,
  params: NewTaxId,
  param = 'value',
): TaxIdRow {
  const { type, value } = params
  const known = TEST_VALUES[value]
  if (known === undefined && PATTERNS[type]?.test(value) === false) {
    throw invalidRequest(`Invalid value for ${type}.`, param, 'tax_id_invalid')
  }
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
    verification: owner ? { status: firstStatus(type), ...nobody() } : null,
  })
  if (!owner) return row
  work.edit('customer', owner).$.taxIds = [...(owner.$.taxIds ?? []), row.id]
  work.emit('customer.tax_id.created', 'tax_id', row)
  return row
}

/** The authority's answer, which comes after the tax id was shown to whoever made it. */
export function verifyTaxId(work: UnitOfWork, row: TaxIdRow): void {
  const status = TEST_VALUES[row.value] ?? 'pending'
  if (row.verification?.status !== 'pending' || status === 'pending') return
  const previous = { verification: { ...row.verification } }
  work.edit('tax_id', row).verification =
    status === 'verified'
      ? { status, verified_address: '1 Test Street', verified_name: 'Test' }
      : { status, ...nobody() }
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

/** A customer's tax ids, oldest first. */
export function taxIdsOf(work: UnitOfWork, customer: CustomerRow): TaxIdRow[] {
  return (customer.$.taxIds ?? []).map((id) => work.require('tax_id', id))
}

function firstStatus(type: string): Status {
  return VERIFIED_TYPES.includes(type) ? 'pending' : 'unavailable'
}

function nobody() {
  return { verified_address: null, verified_name: null }
}

/** The type says it, but for the European Union, whose values do. */
function countryOf(type: string, value: string): string {
  if (type !== 'eu_vat') return type.slice(0, 2).toUpperCase()
  const country = value.slice(0, 2)
  return country === 'EL' ? 'GR' : country
}
