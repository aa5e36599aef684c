import { isObject } from '../wire/validation.ts'
import { XmlList, type XmlObject, type XmlValue } from '../wire/xml.ts'

const SECRET = new Set(['number', 'cvv', 'encrypted_card_data'])

/** The call's own params, which Braintree repeats beside its errors, without card data. */
export function paramsXml(body: unknown): XmlObject {
  if (!isObject(body)) return {}
  const fields: Record<string, XmlValue> = {}
  for (const [name, value] of Object.entries(body)) {
    // A name that no element can have cannot be repeated.
    if (SECRET.has(name) || !/^[A-Za-z_][\w-]*$/.test(name)) continue
    fields[name] = paramXml(value)
  }
  return fields
}

function paramXml(value: unknown): XmlValue {
  if (value === null || value === undefined) return null
  if (Array.isArray(value)) return new XmlList('item', value.map(paramXml))
  return isObject(value) ? paramsXml(value) : String(value)
}
