import { createHash, randomBytes } from 'node:crypto'

/** Number of recovery codes that a person gets. */
export const RECOVERY_CODES = 10

/** Letters and digits that are hard to confuse: no `i`, `l`, `o`, `u`. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const LENGTH = 16

/**
 * Creates a set of recovery codes, such as `7m2k-…`. A code has 80 random bits, so it can be stored
 * as a plain hash.
 */
export function createRecoveryCodes(): string[] {
  return Array.from({ length: RECOVERY_CODES }, () => {
    const letters = [...randomBytes(LENGTH)].map((byte) => ALPHABET[byte & 31]).join('')
    return letters.replace(/(.{4})(?=.)/g, '$1-')
  })
}

/** Returns the stored form of a recovery code. `null` for text that cannot be a code. */
export function hashRecoveryCode(userId: string, typedCode: string): string | null {
  const code = typedCode
    .toLowerCase()
    .replace(/[\s-]/g, '')
    .replace(/o/g, '0')
    .replace(/[il]/g, '1')
  if (!/^[0-9a-hjkmnp-tv-z]{16}$/.test(code)) return null
  return createHash('sha256').update(`recovery code\n${userId}\n${code}`).digest('base64url')
}
