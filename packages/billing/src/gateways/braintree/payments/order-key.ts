import { createHash } from 'node:crypto'

/** Letters of an order's id. A card's may have 255, but to PayPal it is the number of an invoice. */
const LONGEST_ORDER = 127

const LONGEST_REQUEST_KEY = 255

/** What stands for a key where there is no room for the key itself. */
function hashOfKey(key: string): string {
  return createHash('sha256').update(key).digest('hex')
}

/** The order's id of what is found again by its key, such as `refund:key`. */
export function orderOfKey(key: string, prefix = ''): string {
  return fit(LONGEST_ORDER, key, (name) => `${prefix}${name}`)
}

/** What an order's id may say of a key: versions before this one had room for longer ones. */
export function namesOfKey(key: string): readonly string[] {
  return [key, hashOfKey(key)]
}

/**
 * Under which Braintree makes it once. It answers with the first attempt's transaction, a declined one as well, so each
 * decline is followed by the next.
 */
export function requestKeyOf(key: string, declines: number, prefix = ''): string {
  const suffix = declines === 0 ? '' : `:${declines}`
  return fit(LONGEST_REQUEST_KEY, key, (name) => `${prefix}${name}${suffix}`)
}

function fit(longest: number, key: string, write: (name: string) => string): string {
  const whole = write(key)
  return whole.length <= longest ? whole : write(hashOfKey(key))
}
