import type { SearchField } from '../api/search.ts'
import { CONTACT_PARTS } from '../state/contact.ts'
import type { BraintreeContext } from '../state/context.ts'
import type { BillingAddress, CustomerSnapshot } from '../state/rows/vault.ts'

const SEARCHED = {
  company: 'company',
  country_name: 'countryName',
  extended_address: 'extendedAddress',
  first_name: 'firstName',
  last_name: 'lastName',
  locality: 'locality',
  postal_code: 'postalCode',
  region: 'region',
  street_address: 'streetAddress',
} as const

/**
 * Returns the search fields of an address, such as `billing_locality`. A record matches if one of
 * its addresses matches.
 */
export function createAddressSearchFields<Row>(
  prefix: string,
  addressesOf: (
    row: Row,
    context: BraintreeContext,
  ) => ReadonlyArray<BillingAddress | null | undefined>,
): Record<string, SearchField<Row>> {
  const fields = Object.entries(SEARCHED).map(([key, part]): [string, SearchField<Row>] => [
    `${prefix}${key}`,
    { anyText: (row, context) => addressesOf(row, context).map((each) => each?.[part] ?? '') },
  ])
  return Object.fromEntries(fields)
}

/** Returns the search fields of a contact, such as `customer_email`. */
export function createContactSearchFields<Row>(
  prefix: string,
  contactOf: (row: Row) => Omit<CustomerSnapshot, 'id'> | null,
): Record<string, SearchField<Row>> {
  const fields = Object.entries(CONTACT_PARTS).map(([key, [part]]): [string, SearchField<Row>] => [
    `${prefix}${key}`,
    { text: (row) => contactOf(row)?.[part] ?? null },
  ])
  return Object.fromEntries(fields)
}
