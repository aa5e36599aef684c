import type { ClientAuthMethod } from '../../storage/client-settings.ts'
import { newRedirectProblem } from '../redirect-uris.ts'

/** Null when a value is right, else what it must be, to be said after the name of the member. */
export type Check = (value: unknown) => string | null

const LONGEST_URI = 2000
const LONGEST_TEXT = 500
const MOST_ENTRIES = 50
const MOST_KEYS = 20
/** Printable ASCII: what an address or an algorithm has. */
const PLAIN = /^[\x21-\x7e]+$/

export const authMethods: readonly ClientAuthMethod[] = [
  'client_secret_basic',
  'client_secret_post',
  'client_secret_jwt',
  'private_key_jwt',
  'none',
]

export const isFlag: Check = (value) =>
  typeof value === 'boolean' ? null : 'must be true or false'

export const isSeconds: Check = (value) =>
  Number.isSafeInteger(value) && Number(value) >= 0 ? null : 'must be a number of seconds'

export function isOneOf(names: readonly string[]): Check {
  return (value) =>
    typeof value === 'string' && names.includes(value)
      ? null
      : `must be one of ${names.join(', ') || 'none, for this server offers none'}`
}

/** What it is signed with: whether a server has it is for others to say. */
export const isAlgorithm: Check = (value) =>
  typeof value === 'string' && value.length <= 20 && PLAIN.test(value)
    ? null
    : 'must be the name of an algorithm'

export const isText: Check = (value) =>
  typeof value === 'string' &&
  value !== '' &&
  value.length <= LONGEST_TEXT &&
  value.isWellFormed() &&
  !value.includes('\0')
    ? null
    : `must be a text of at most ${LONGEST_TEXT} characters`

/** An address without a user's name, over one of the protocols. */
function isAddress(value: unknown, protocols: readonly string[]): value is string {
  if (typeof value !== 'string' || value.length > LONGEST_URI || !PLAIN.test(value)) return false
  if (!URL.canParse(value)) return false
  const { protocol, username, password, hostname } = new URL(value)
  return protocols.includes(protocol) && username === '' && password === '' && hostname !== ''
}

export const isHttps: Check = (value) =>
  isAddress(value, ['https:']) ? null : 'must be an https address'

export const isWebPage: Check = (value) =>
  isAddress(value, ['https:', 'http:']) ? null : 'must be a web address'

/** https, or this machine: whoever asks there has further rules. */
export const isHttpsOrLocal: Check = (value) => {
  const local = isAddress(value, ['http:']) && isLoopback(new URL(value).hostname)
  return local ? null : isHttps(value)
}

/** A star in a host would be taken for many. */
const ORIGIN = /^https?:\/\/([\w.-]+|\[[\da-f:.]+\])(:\d+)?$/

/** As browsers write it: small letters, no default port, nothing behind it. */
export function isOrigin(text: string): boolean {
  return ORIGIN.test(text) && URL.canParse(text) && new URL(text).origin === text
}

export const isOriginText: Check = (value) =>
  typeof value === 'string' && isOrigin(value)
    ? null
    : 'must be an origin such as https://app.example.com'

export function isLoopback(hostname: string): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
}

export function isListOf(check: Check, most = MOST_ENTRIES): Check {
  return (value) => {
    if (!Array.isArray(value)) return 'must be a list'
    if (value.length > most) return `must not hold more than ${most} entries`
    return value.map(check).find((problem) => problem !== null) ?? null
  }
}

export function isRedirect(issuer: string): Check {
  return (value) =>
    typeof value === 'string' ? newRedirectProblem(value, issuer) : 'must be an address'
}

/** RFC 7517 §5. */
export const isKeySet: Check = (value) => {
  const { keys } = isRecord(value) ? value : {}
  if (!Array.isArray(keys) || keys.length === 0 || !keys.every(isKey)) {
    return 'must be a set of keys: { keys: [{ kty, … }] }'
  }
  return keys.length > MOST_KEYS ? `must not hold more than ${MOST_KEYS} keys` : null
}

/** A key that somebody has sent us is no secret any more. */
export const holdsNoSecret: Check = (value) => {
  const { keys } = isRecord(value) ? value : {}
  const secret = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k']
  const told = Array.isArray(keys) && keys.some((key) => secret.some((name) => name in key))
  return told ? 'must hold public keys only' : null
}

function isKey(value: unknown): boolean {
  return isRecord(value) && typeof value.kty === 'string'
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
