import { createHash } from 'node:crypto'

/** Letters of an order's id. A card's may have 255, but to PayPal it is the number of an invoice. */
export const LONGEST_ORDER = 127

/** What stands for a key in an order's id that has no room for the key itself. */
export function hashOfKey(key: string): string {
  return createHash('sha256').update(key).digest('hex')
}

/** The order's id of a sale that is found again by its key. */
export function orderOfKey(key: string): string {
  return key.length <= LONGEST_ORDER ? key : hashOfKey(key)
}
