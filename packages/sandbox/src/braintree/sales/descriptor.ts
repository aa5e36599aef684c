import type { StatementDescriptor } from '../state/rows/subscriptions.ts'
import { parsePermittedKeys, type RequestFields } from '../wire/validation.ts'

const KEYS = parsePermittedKeys('name phone url')

/**
 * Reads the descriptor of a sale, which is its text on the customer's bank statement. Returns
 * `null` if none was sent.
 */
export function readDescriptor(fields: RequestFields): StatementDescriptor | null {
  if (fields.isBlank('descriptor')) return null
  const given = fields.object('descriptor')
  given.permit(KEYS)
  const descriptor = {
    name: given.text('name'),
    phone: given.text('phone'),
    url: given.text('url'),
  }
  given.check('name', isName, '92201')
  given.check('phone', (phone) => /^[\d().-]{10,14}$/.test(phone), '92202')
  given.checkLength('url', 13, '92206')
  return descriptor
}

/**
 * Whether a name has the required format: a company name of 3, 7 or 12 characters, an asterisk and
 * a product, at most 22 characters.
 */
function isName(name: string): boolean {
  return name.length <= 22 && /^(?:[^*]{3}|[^*]{7}|[^*]{12})\*[^*]+$/.test(name)
}
