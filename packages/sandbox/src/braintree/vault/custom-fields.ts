import { type BraintreeContext, readMerchantSettings } from '../state/context.ts'
import type { RequestFields } from '../wire/validation.ts'

/**
 * Reads the custom fields of a call. Only those that the control panel defines are allowed. Blank
 * values are dropped.
 */
export function readCustomFields(
  context: BraintreeContext,
  fields: RequestFields,
  codes: { readonly invalid: string; readonly tooLong: string },
): Record<string, string> {
  const given = fields.object('custom_fields')
  const defined = readMerchantSettings(context).customFields
  const unknown = Object.keys(given.values).filter((name) => !defined.includes(name))
  if (unknown.length > 0) {
    fields.addError('custom_fields', codes.invalid, unknown.join(', '))
    return {}
  }
  const values: Record<string, string> = {}
  for (const name of defined) {
    const value = given.text(name)
    if (value === null) continue
    if (value.length > 255) fields.addError('custom_fields', codes.tooLong, name)
    values[name] = value
  }
  return values
}
