import type { ErrorCollector, ErrorPath } from '../wire/errors.ts'
import { type Fields, permitted } from '../wire/validation.ts'
import type { XmlObject } from '../wire/xml.ts'
import type { InternationalPhone } from './rows/vault.ts'

const KEYS = permitted('country_code national_number')

/** The `international_phone` of a customer or an address. */
export function readPhone(fields: Fields): InternationalPhone {
  const phone = fields.object('international_phone')
  phone.permit(KEYS)
  return {
    countryCode: phone.text('country_code'),
    nationalNumber: phone.text('national_number'),
  }
}

/** Up to three digits for the country, four to twelve for the rest. */
export function checkPhone(
  phone: InternationalPhone | null,
  path: ErrorPath,
  errors: ErrorCollector,
): void {
  if (!/^\d{1,3}$/.test(phone?.countryCode ?? '1')) {
    errors.add(path, 'international_phone_country_code', '91625')
  }
  if (!/^\d{4,12}$/.test(phone?.nationalNumber ?? '1234')) {
    errors.add(path, 'international_phone_national_number', '91626')
  }
}

/** Shown even if it is not known, as Braintree does. */
export function phoneXml(phone: InternationalPhone | null): XmlObject {
  return {
    country_code: phone?.countryCode ?? null,
    national_number: phone?.nationalNumber ?? null,
  }
}
