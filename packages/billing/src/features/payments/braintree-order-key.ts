import { createHash } from 'node:crypto'

/** Maximum length of an `orderId`. Cards allow 255, but PayPal uses it as the invoice number. */
const MAX_ORDER_LENGTH = 127

const MAX_REQUEST_KEY_LENGTH = 255

/** Returns the short form of a key, for names without room for the whole key. */
function hashIdempotencyKey(key: string): string {
  return createHash('sha256').update(key).digest('hex')
}

/**
 * Returns the Braintree `orderId` that contains an idempotency key, such as `refund:key`, so that a
 * repeated call finds the transaction.
 */
export function buildOrderId(key: string, prefix = ''): string {
  return shortenToFit(MAX_ORDER_LENGTH, key, (name) => `${prefix}${name}`)
}

/**
 * Returns the forms of an idempotency key that may follow the prefix of an `orderId`: the key or its
 * hash, depending on the length of the prefix, such as that of another refund reason.
 */
export function listPossibleOrderKeys(key: string): readonly string[] {
  return [key, hashIdempotencyKey(key)]
}

/**
 * Returns the `apiRequestKey` with which Braintree charges only once. For a repeated request key,
 * Braintree returns the first transaction, even if it was declined. So the request key also
 * contains the number of earlier declines.
 */
export function buildBraintreeIdempotencyKey(
  operationKey: string,
  declineCount: number,
  prefix = '',
): string {
  const suffix = declineCount === 0 ? '' : `:${declineCount}`
  return shortenToFit(MAX_REQUEST_KEY_LENGTH, operationKey, (name) => `${prefix}${name}${suffix}`)
}

function shortenToFit(longest: number, key: string, write: (name: string) => string): string {
  const whole = write(key)
  return whole.length <= longest ? whole : write(hashIdempotencyKey(key))
}
