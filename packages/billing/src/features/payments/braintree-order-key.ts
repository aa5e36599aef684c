import { createHash } from 'node:crypto'

/** Maximum length of an `orderId`. Cards allow 255, but PayPal uses it as the invoice number. */
const MAX_ORDER_LENGTH = 127

const MAX_REQUEST_KEY_LENGTH = 255

/** Returns the short form of a key, for names without room for the whole key. */
function hashOfKey(key: string): string {
  return createHash('sha256').update(key).digest('hex')
}

/** Returns the `orderId` by which an object is found again, such as `refund:key`. */
export function orderOfKey(key: string, prefix = ''): string {
  return fit(MAX_ORDER_LENGTH, key, (name) => `${prefix}${name}`)
}

/** Returns all `orderId`s that a key may have: earlier versions stored longer keys unchanged. */
export function namesOfKey(key: string): readonly string[] {
  return [key, hashOfKey(key)]
}

/**
 * Returns the request key under which Braintree makes the charge once. Braintree returns the first
 * transaction for it, even a declined one, so each decline needs a new request key.
 */
export function requestKeyOf(key: string, declines: number, prefix = ''): string {
  const suffix = declines === 0 ? '' : `:${declines}`
  return fit(MAX_REQUEST_KEY_LENGTH, key, (name) => `${prefix}${name}${suffix}`)
}

function fit(longest: number, key: string, write: (name: string) => string): string {
  const whole = write(key)
  return whole.length <= longest ? whole : write(hashOfKey(key))
}
