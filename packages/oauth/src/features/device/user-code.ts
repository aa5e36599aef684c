import type { ServerContext } from '../../context.ts'
import { computeHmac, createRandomLetters } from '../../crypto.ts'
import { hashTicketName } from '../../storage/tickets.ts'

export const USER_CODE_LIMIT_NAME = 'device user code'

/**
 * RFC 8628 §6.1: no vowels, so that no words appear; no digits, so that none resembles a letter.
 */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ'
const LENGTH = 8
const SHAPE = new RegExp(`^[${LETTERS}]{${LENGTH}}$`)

/** Returns a new user code as a device shows it, such as `WDJB-MJHT`. */
export function createUserCode(): string {
  return withDash(createRandomLetters(LETTERS, LENGTH))
}

/**
 * Normalizes a user code that a person has entered, in any letter case, with or without spaces and
 * dashes. Returns `null` if the text cannot be a user code.
 */
export function parseUserCode(text: string): string | null {
  const letters = text.toUpperCase().replace(/[^A-Z0-9]/g, '')
  return SHAPE.test(letters) ? withDash(letters) : null
}

function withDash(letters: string): string {
  return `${letters.slice(0, LENGTH / 2)}-${letters.slice(LENGTH / 2)}`
}

/**
 * Returns keyed hashes of a user code, one per secret of the server. New codes are stored under the
 * first; the others find codes stored before the secret was replaced. A plain hash of so few
 * characters could be brute-forced by anyone who reads the table.
 */
export function hashUserCode(userCode: string, { keyring }: ServerContext): string[] {
  const keys = keyring.macKeys('approval forms')
  return keys.map((key) =>
    hashTicketName(USER_CODE_LIMIT_NAME, computeHmac(key, `${USER_CODE_LIMIT_NAME}\n${userCode}`)),
  )
}
