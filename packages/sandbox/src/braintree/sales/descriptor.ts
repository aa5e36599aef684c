import type { Descriptor } from '../state/rows/subscriptions.ts'
import type { ErrorCollector, ErrorPath } from '../wire/errors.ts'
import { type Fields, permitted } from '../wire/validation.ts'

const KEYS = permitted('name phone url')

/** What the bank statement shows; null when none was sent. */
export function readDescriptor(
  fields: Fields,
  parent: ErrorPath,
  errors: ErrorCollector,
): Descriptor | null {
  if (fields.isBlank('descriptor')) return null
  const given = fields.object('descriptor')
  given.permit(KEYS)
  const descriptor = {
    name: given.text('name'),
    phone: given.text('phone'),
    url: given.text('url'),
  }
  const { name, phone, url } = descriptor
  const path = [...parent, 'descriptor']
  if (name !== null && !/^(?:[^*]{3}|[^*]{7}|[^*]{12})\*[^*]+$/.test(name.slice(0, 23)))
    errors.add(path, 'name', '92201')
  else if (name !== null && name.length > 22) errors.add(path, 'name', '92201')
  if (phone !== null && !/^[\d().-]{10,14}$/.test(phone)) errors.add(path, 'phone', '92202')
  if (url !== null && url.length > 13) errors.add(path, 'url', '92206')
  return descriptor
}
