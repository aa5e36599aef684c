import type { ServerContext } from '../../context.ts'
import { hmac, randomLetters } from '../../crypto.ts'
import { ticketHash } from '../../storage/ticket-hash.ts'

export const USER_CODE = 'device user code'

/** RFC 8628 §6.1: no vowels, so no words; no digits, so none that look like a letter. */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ'
const LENGTH = 8
const SHAPE = new RegExp(`^[${LETTERS}]{${LENGTH}}$`)

/** As a device shows it: `WDJB-MJHT`. */
export function newUserCode(): string {
  return withDash(randomLetters(LETTERS, LENGTH))
}

/** However people write it: small letters, blanks, dashes or none. Null when it can be no code. */
export function parseUserCode(text: string): string | null {
  const letters = text.toUpperCase().replace(/[^A-Z0-9]/g, '')
  return SHAPE.test(letters) ? withDash(letters) : null
}

function withDash(letters: string): string {
  return `${letters.slice(0, LENGTH / 2)}-${letters.slice(LENGTH / 2)}`
}

/**
 * By a key of the server: the plain hash of so short a text could be tried out by whoever reads the table. The
 * first is for new codes; those from before the secret was changed are found by the others.
 */
export function userCodeHashes(userCode: string, { keyring }: ServerContext): string[] {
  const keys = keyring.macKeys('approval forms')
  return keys.map((key) => ticketHash(USER_CODE, hmac(key, `${USER_CODE}\n${userCode}`)))
}
