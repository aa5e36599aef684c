import { parsePermittedKeys, type RequestFields } from '../wire/validation.ts'
import type { XmlObject } from '../wire/xml.ts'
import type { CustomerSnapshot, InternationalPhone } from './rows/vault.ts'

/**
 * Contact fields of a customer: for each of Braintree's names, the name in the row and the error
 * code for more than 255 characters.
 */
export const CONTACT_PARTS = {
  first_name: ['firstName', '81608'],
  last_name: ['lastName', '81613'],
  company: ['company', '81601'],
  email: ['email', '81605'],
  phone: ['phone', '81614'],
  fax: ['fax', '81607'],
  website: ['website', '81615'],
} as const

export const NO_CONTACT = {
  firstName: null,
  lastName: null,
  company: null,
  email: null,
  phone: null,
  fax: null,
  website: null,
  internationalPhone: null,
}

const KEYS = parsePermittedKeys('country_code national_number')

/** Reads the parameter `international_phone` of a customer or address. */
export function readPhone(fields: RequestFields): InternationalPhone {
  const phone = fields.object('international_phone')
  phone.permit(KEYS)
  return {
    countryCode: phone.text('country_code'),
    nationalNumber: phone.text('national_number'),
  }
}

/**
 * Validates a phone number: up to three digits for the country code, four to twelve for the number.
 */
export function checkPhone(fields: RequestFields, phone: InternationalPhone | null): void {
  if (!/^\d{1,3}$/.test(phone?.countryCode ?? '1')) {
    fields.addError('international_phone_country_code', '91625')
  }
  if (!/^\d{4,12}$/.test(phone?.nationalNumber ?? '1234')) {
    fields.addError('international_phone_national_number', '91626')
  }
}

/** Renders a phone number as XML. Like Braintree, renders empty fields if the number is unknown. */
export function renderPhoneXml(phone: InternationalPhone | null): XmlObject {
  return {
    country_code: phone?.countryCode ?? null,
    national_number: phone?.nationalNumber ?? null,
  }
}

/**
 * Renders the contact fields of a customer as XML, with empty fields for `null`. Every field is
 * written out for speed, because every transaction in every notification contains them.
 */
export function renderContactXml(customer: Omit<CustomerSnapshot, 'id'> | null): XmlObject {
  return {
    first_name: customer?.firstName ?? null,
    last_name: customer?.lastName ?? null,
    company: customer?.company ?? null,
    email: customer?.email ?? null,
    phone: customer?.phone ?? null,
    fax: customer?.fax ?? null,
    website: customer?.website ?? null,
    international_phone: renderPhoneXml(customer?.internationalPhone ?? null),
  }
}
