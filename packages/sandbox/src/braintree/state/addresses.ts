import { type BraintreeCountry, findCountry } from '../wire/countries.ts'
import { parsePermittedKeys, type RequestFields } from '../wire/validation.ts'
import type { XmlObject } from '../wire/xml.ts'
import { readPhone, renderPhoneXml } from './contact.ts'
import type { AddressRow, BillingAddress } from './rows/vault.ts'

/**
 * Address fields: for each of Braintree's names, our name and the error code for more than 255
 * characters.
 */
const PARTS = {
  first_name: ['firstName', '81805'],
  last_name: ['lastName', '81806'],
  company: ['company', '81802'],
  street_address: ['streetAddress', '81812'],
  extended_address: ['extendedAddress', '81804'],
  locality: ['locality', '81807'],
  region: ['region', '81810'],
  phone_number: ['phoneNumber', '91828'],
  postal_code: ['postalCode', '81809'],
} as const

/**
 * Fields that name a country: for each of Braintree's names, our name, the property of
 * `BraintreeCountry`, and the error code for an unknown country.
 */
const COUNTRY_PARTS = {
  country_name: ['countryName', 'name', '91803'],
  country_code_alpha2: ['countryCodeAlpha2', 'alpha2', '91814'],
  country_code_alpha3: ['countryCodeAlpha3', 'alpha3', '91816'],
  country_code_numeric: ['countryCodeNumeric', 'numeric', '91817'],
} as const
const NAMES = `${Object.keys(PARTS).join(' ')} ${Object.keys(COUNTRY_PARTS).join(' ')}`
const KEYS = parsePermittedKeys(`${NAMES} international_phone options`)
const MAX_POSTAL_CODE_LENGTH = 9

export const NO_ADDRESS: BillingAddress = {
  firstName: null,
  lastName: null,
  company: null,
  streetAddress: null,
  extendedAddress: null,
  locality: null,
  region: null,
  postalCode: null,
  countryName: null,
  countryCodeAlpha2: null,
  countryCodeAlpha3: null,
  countryCodeNumeric: null,
  phoneNumber: null,
  internationalPhone: null,
}

/**
 * Reads an address from the parameters of a call. Returns `null` if no part of an address was sent.
 */
export function readAddress(fields: RequestFields): BillingAddress | null {
  const given = readAddressParts(fields)
  const isFilled = Object.values(given).some((part) => part !== null)
  return isFilled ? { ...NO_ADDRESS, ...given } : null
}

/** Reads the parts of an address that were sent with a call. */
export function readAddressParts(fields: RequestFields): Partial<BillingAddress> {
  fields.permit(KEYS)
  const given: Partial<BillingAddress> = readCountry(fields)
  for (const [key, [name, code]] of Object.entries(PARTS)) {
    if (!fields.has(key)) continue
    if (key !== 'postal_code') fields.checkLength(key, 255, code)
    // Braintree distinguishes an empty text from a missing one.
    given[name] = fields.value(key) === '' ? '' : fields.text(key)
  }
  checkPostalCode(fields, given.postalCode ?? '')
  if (fields.has('international_phone')) given.internationalPhone = readPhone(fields)
  return given
}

function checkPostalCode(fields: RequestFields, postalCode: string): void {
  if (!/^[A-Za-z0-9 -]*$/.test(postalCode)) fields.addError('postal_code', '81813')
  else if (postalCode.replace(/[ -]/g, '').length > MAX_POSTAL_CODE_LENGTH)
    fields.addError('postal_code', '81809')
}

/**
 * Reads a country from any of its four fields (a name and three codes), and fills in the other
 * three. Fields that are sent together must name the same country.
 */
function readCountry(fields: RequestFields): Partial<BillingAddress> {
  let country: BraintreeCountry | null = null
  let isNamed = false
  for (const [key, [, by, code]] of Object.entries(COUNTRY_PARTS)) {
    if (!fields.has(key)) continue
    isNamed = true
    const value = fields.text(key)
    if (value === null) continue
    const found = findCountry(by, value)
    if (!found) fields.addError(key, code)
    else if (country && found !== country) fields.addError('base', '91815')
    country ??= found
  }
  if (!isNamed) return {}
  const given: Partial<BillingAddress> = {}
  for (const [name, by] of Object.values(COUNTRY_PARTS)) given[name] = country?.[by] ?? null
  return given
}

/**
 * Renders an address as XML. The address of a customer has an id, the address of a sale has none.
 */
export function renderAddressXml(address: BillingAddress | AddressRow | null): XmlObject | null {
  if (!address) return null
  const parts = Object.entries({ ...PARTS, ...COUNTRY_PARTS })
  const fields = Object.fromEntries(parts.map(([key, [name]]) => [key, address[name]]))
  const shown = { ...fields, international_phone: renderPhoneXml(address.internationalPhone) }
  if (!('customerId' in address)) return { id: null, ...shown }
  return {
    id: address.id,
    customer_id: address.customerId,
    ...shown,
    created_at: new Date(address.createdAt),
    updated_at: new Date(address.updatedAt),
  }
}
