import type { SearchField } from '../api/search.ts'
import type { BraintreeContext } from '../state/context.ts'
import type { Address } from '../state/rows/vault.ts'

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

/** `billing_locality` and the like: true of a record when one of its addresses has it. */
export function addressFields<Row>(
  prefix: string,
  addressesOf: (row: Row, context: BraintreeContext) => ReadonlyArray<Address | null | undefined>,
): Record<string, SearchField<Row>> {
  const fields = Object.entries(SEARCHED).map(([key, part]): [string, SearchField<Row>] => [
    `${prefix}${key}`,
    { anyText: (row, context) => addressesOf(row, context).map((each) => each?.[part] ?? '') },
  ])
  return Object.fromEntries(fields)
}
