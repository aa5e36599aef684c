import { createHash } from 'node:crypto'

export const DEFAULT_SUBSCRIPTION_NAME = 'default'

/**
 * Returns a digest of a subscription name, for providers that have no room to store it: 13 letters
 * and digits.
 */
export function hashSubscriptionName(name: string): string {
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 16)
  return BigInt(`0x${digest}`).toString(36).padStart(13, '0')
}
