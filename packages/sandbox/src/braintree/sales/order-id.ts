import type { Instrument } from '../state/rows/vault.ts'
import type { ErrorCollector } from '../wire/errors.ts'
import { checkLength, type Fields } from '../wire/validation.ts'

/** To PayPal it is the number of an invoice, which is shorter. */
export function checkOrderId(
  fields: Fields,
  kind: Instrument['kind'] | undefined,
  errors: ErrorCollector,
): void {
  const longest = kind === 'paypal_account' ? 127 : 255
  checkLength(fields, 'order_id', { path: ['transaction'], longest, code: '91501' }, errors)
}
