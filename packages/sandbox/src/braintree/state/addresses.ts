import type { ErrorCollector, ErrorPath } from '../wire/errors.ts'
import { checkLength, type Fields, permitted } from '../wire/validation.ts'
import type { XmlObject } from '../wire/xml.ts'
import type { Address } from './rows/vault.ts'

/** Braintree's name → ours, and the code of one that is longer than 255 characters. */
const PARTS = {
  first_name: ['firstName', '81805'],
  last_name: ['lastName', '81806'],
  company: ['company', '81802'],
  street_address: ['streetAddress', '81812'],
  extended_address: ['extendedAddress', '81804'],
  locality: ['locality', '81807'],
  region: ['region', '81810'],
  postal_code: ['postalCode', '81809'],
  country_name: ['countryName', '91803'],
  country_code_alpha2: ['countryCodeAlpha2', '91814'],
  country_code_alpha3: ['countryCodeAlpha3', '91816'],
  country_code_numeric: ['countryCodeNumeric', '91817'],
  phone_number: ['phoneNumber', '91828'],
} as const
const KEYS = permitted(`${Object.keys(PARTS).join(' ')} options`)
const LONGEST: Readonly<Record<string, number>> = {
  postal_code: 9,
  country_code_alpha2: 2,
  country_code_alpha3: 3,
  country_code_numeric: 3,
}

/** An address given in a call; null when none was. */
export function readAddress(
  fields: Fields,
  path: ErrorPath,
  errors: ErrorCollector,
): Address | null {
  fields.permit(KEYS)
  const address: Record<string, string | null> = {}
  let filled = false
  for (const [key, [name, code]] of Object.entries(PARTS)) {
    checkLength(fields, key, { path, longest: LONGEST[key] ?? 255, code }, errors)
    address[name] = fields.text(key)
    if (address[name] !== null) filled = true
  }
  return filled ? (address as unknown as Address) : null
}

export function addressXml(address: Address | null): XmlObject | null {
  if (!address) return null
  const entries = Object.entries(PARTS).map(([key, [name]]) => [key, address[name]])
  return Object.fromEntries(entries) as XmlObject
}
