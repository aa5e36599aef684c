import { type Country, findCountry } from '../wire/countries.ts'
import type { ErrorCollector, ErrorPath } from '../wire/errors.ts'
import { checkLength, type Fields, permitted } from '../wire/validation.ts'
import type { XmlObject } from '../wire/xml.ts'
import { phoneXml, readPhone } from './phones.ts'
import type { Address, AddressRow } from './rows/vault.ts'

/** Braintree's name → ours, and the code of one that is longer than 255 characters. */
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

/** How a country is called, and the code of one that is not known by it. */
const COUNTRY_PARTS = {
  country_name: ['countryName', 'name', '91803'],
  country_code_alpha2: ['countryCodeAlpha2', 'alpha2', '91814'],
  country_code_alpha3: ['countryCodeAlpha3', 'alpha3', '91816'],
  country_code_numeric: ['countryCodeNumeric', 'numeric', '91817'],
} as const
const NAMES = `${Object.keys(PARTS).join(' ')} ${Object.keys(COUNTRY_PARTS).join(' ')}`
const KEYS = permitted(`${NAMES} international_phone options`)
const LONGEST_POSTAL_CODE = 9

export const NO_ADDRESS: Address = {
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

/** An address given in a call; null when none was. */
export function readAddress(
  fields: Fields,
  path: ErrorPath,
  errors: ErrorCollector,
): Address | null {
  const given = readAddressParts(fields, path, errors)
  const isFilled = Object.values(given).some((part) => part !== null)
  return isFilled ? { ...NO_ADDRESS, ...given } : null
}

/** What a call says of an address: only the parts it names. */
export function readAddressParts(
  fields: Fields,
  path: ErrorPath,
  errors: ErrorCollector,
): Partial<Address> {
  fields.permit(KEYS)
  const given: Partial<Address> = readCountry(fields, path, errors)
  for (const [key, [name, code]] of Object.entries(PARTS)) {
    if (!fields.has(key)) continue
    if (key !== 'postal_code') checkLength(fields, key, { path, longest: 255, code }, errors)
    // Braintree keeps an empty text apart from none.
    given[name] = fields.value(key) === '' ? '' : fields.text(key)
  }
  checkPostalCode(given.postalCode ?? '', path, errors)
  if (fields.has('international_phone')) given.internationalPhone = readPhone(fields)
  return given
}

function checkPostalCode(postalCode: string, path: ErrorPath, errors: ErrorCollector): void {
  if (!/^[A-Za-z0-9 -]*$/.test(postalCode)) errors.add(path, 'postal_code', '81813')
  else if (postalCode.replace(/[ -]/g, '').length > LONGEST_POSTAL_CODE)
    errors.add(path, 'postal_code', '81809')
}

/** By any of its four names, which fill in the others; those that are given must agree. */
function readCountry(fields: Fields, path: ErrorPath, errors: ErrorCollector): Partial<Address> {
  let country: Country | null = null
  let isNamed = false
  for (const [key, [, by, code]] of Object.entries(COUNTRY_PARTS)) {
    if (!fields.has(key)) continue
    isNamed = true
    const value = fields.text(key)
    if (value === null) continue
    const found = findCountry(by, value)
    if (!found) errors.add(path, key, code)
    else if (country && found !== country) errors.add(path, 'base', '91815')
    country ??= found
  }
  if (!isNamed) return {}
  const given: Partial<Address> = {}
  for (const [name, by] of Object.values(COUNTRY_PARTS)) given[name] = country?.[by] ?? null
  return given
}

/** An address of a customer with its id, or one that came with a sale. */
export function addressXml(address: Address | AddressRow | null): XmlObject | null {
  if (!address) return null
  const parts = Object.entries({ ...PARTS, ...COUNTRY_PARTS })
  const fields = Object.fromEntries(parts.map(([key, [name]]) => [key, address[name]]))
  const shown = { ...fields, international_phone: phoneXml(address.internationalPhone) }
  if (!('customerId' in address)) return { id: null, ...shown }
  return {
    id: address.id,
    customer_id: address.customerId,
    ...shown,
    created_at: new Date(address.createdAt),
    updated_at: new Date(address.updatedAt),
  }
}
