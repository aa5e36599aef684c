import { createHash } from 'node:crypto'

/** Hashes the name of an account, under which networks are remembered and failures are counted. */
export function hashAccountName(name: string): string {
  return createHash('sha256').update(name).digest('base64url').slice(0, 32)
}

/** The name under which the networks are remembered from which a person has paid with a card. */
export const cardAccountName = (userId: string) => `card of ${userId}`

/** The name under which the networks are remembered from which a person has proved a second factor. */
export const factorAccountName = (userId: string) => `second factor of ${userId}`
