import {
  findTaxJurisdiction,
  type TaxAddress,
  type TaxJurisdiction,
} from '../catalog/tax-by-address.ts'
import type { CustomerRow } from '../state/rows.ts'
import type { StripeTables } from '../state/tables.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { createInvalidRequestFault } from '../wire/errors.ts'

type Source = 'billing_address' | 'payment_method' | 'shipping_destination'

export interface TaxLocation {
  readonly place: TaxJurisdiction
  readonly source: Source
}

/**
 * Returns the location where a customer is taxed. It is the first address that is set: the shipping
 * address, the customer's address, or the card's address. Returns `null` if that address is
 * incomplete, or none is set.
 */
export function findTaxLocation(
  { tables }: { readonly tables: StripeTables },
  customer: CustomerRow,
): TaxLocation | null {
  const card = tables.payment_method.get(customer.invoice_settings.default_payment_method ?? '')
  const known: ReadonlyArray<readonly [Source, TaxAddress | null | undefined]> = [
    ['shipping_destination', customer.shipping?.address],
    ['billing_address', customer.address],
    ['payment_method', card?.billing_details.address],
  ]
  for (const [source, address] of known) {
    if (!address || Object.values(address).every((value) => !value)) continue
    const place = findTaxJurisdiction(address)
    return place && { place, source }
  }
  return null
}

/** Renders the field `tax` of a customer, with the location where the customer is taxed. */
export function renderCustomerTax(tables: StripeTables, customer: CustomerRow) {
  const location = findTaxLocation({ tables }, customer)
  return {
    automatic_tax:
      location === null
        ? 'unrecognized_location'
        : location.place.taxes.length === 0
          ? 'not_collecting'
          : 'supported',
    ip_address: customer.$.taxIp ?? null,
    location: location && {
      country: location.place.country,
      source: location.source,
      state: location.place.state,
    },
    provider: 'stripe',
  }
}

export function requireTaxLocation(work: UnitOfWork, customer: CustomerRow): void {
  if (findTaxLocation(work, customer) === null) throw createUnknownLocationFault()
}

export function createUnknownLocationFault() {
  return createInvalidRequestFault(
    "The customer's location isn't recognized. Set a valid customer address in order to automatically calculate tax.",
    undefined,
    'customer_tax_location_invalid',
  )
}
