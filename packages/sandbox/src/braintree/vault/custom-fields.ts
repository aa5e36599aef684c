import { type BraintreeContext, settingsOf } from '../state/context.ts'
import type { ErrorCollector, ErrorPath } from '../wire/errors.ts'
import type { Fields } from '../wire/validation.ts'

/** Values of the fields the control panel defines; a blank one is not kept. */
export function readCustomFields(
  context: BraintreeContext,
  fields: Fields,
  rule: { path: ErrorPath; invalid: string; tooLong: string },
  errors: ErrorCollector,
): Record<string, string> {
  const defined = settingsOf(context).customFields
  const unknown = Object.keys(fields.values).filter((name) => !defined.includes(name))
  if (unknown.length > 0) {
    errors.add(rule.path, 'custom_fields', rule.invalid, unknown.join(', '))
    return {}
  }
  const values: Record<string, string> = {}
  for (const name of defined) {
    const value = fields.text(name)
    if (value === null) continue
    if (value.length > 255) errors.add(rule.path, 'custom_fields', rule.tooLong, name)
    values[name] = value
  }
  return values
}
