import type { ClientAuthMethod } from '../../storage/client-settings.ts'
import { findNewRedirectProblem } from '../redirect-uris.ts'

/**
 * Checks the value of a client setting. Returns `null` if it is valid, otherwise the problem,
 * worded to follow the name of the setting ("must be true or false").
 */
export type SettingCheck = (value: unknown) => string | null

const MAX_URI_LENGTH = 2000
const MAX_TEXT_LENGTH = 500
const MAX_ENTRIES = 50
const MAX_KEYS = 20
/** Printable ASCII without spaces, as in URLs and names of algorithms. */
const PLAIN = /^[\x21-\x7e]+$/

export const authMethods: readonly ClientAuthMethod[] = [
  'client_secret_basic',
  'client_secret_post',
  'client_secret_jwt',
  'private_key_jwt',
  'none',
]

export const checkFlag: SettingCheck = (value) =>
  typeof value === 'boolean' ? null : 'must be true or false'

export const checkSeconds: SettingCheck = (value) =>
  Number.isSafeInteger(value) && Number(value) >= 0 ? null : 'must be a number of seconds'

export function checkOneOf(names: readonly string[]): SettingCheck {
  return (value) =>
    typeof value === 'string' && names.includes(value)
      ? null
      : `must be one of ${names.join(', ') || 'the offered values, but this server offers none'}`
}

/**
 * Checks that a setting has the form of an algorithm name. Does not check whether the server
 * supports the algorithm.
 */
export const checkAlgorithm: SettingCheck = (value) =>
  typeof value === 'string' && value.length <= 20 && PLAIN.test(value)
    ? null
    : 'must be the name of an algorithm'

export const checkText: SettingCheck = (value) =>
  typeof value === 'string' &&
  value !== '' &&
  value.length <= MAX_TEXT_LENGTH &&
  value.isWellFormed() &&
  !value.includes('\0')
    ? null
    : `must be text of 1 to ${MAX_TEXT_LENGTH} characters`

/** Whether the value is a URL with one of the protocols and without user name and password. */
function isAddress(value: unknown, protocols: readonly string[]): value is string {
  if (typeof value !== 'string' || value.length > MAX_URI_LENGTH || !PLAIN.test(value)) return false
  if (!URL.canParse(value)) return false
  const { protocol, username, password, hostname } = new URL(value)
  return protocols.includes(protocol) && username === '' && password === '' && hostname !== ''
}

export const checkHttps: SettingCheck = (value) =>
  isAddress(value, ['https:']) ? null : 'must be an https URL'

export const checkWebPage: SettingCheck = (value) =>
  isAddress(value, ['https:', 'http:']) ? null : 'must be an http or https URL'

/**
 * Checks that a setting is an https URL, or an http URL on this machine. The code that later
 * requests the URL applies further rules.
 */
export const checkHttpsOrLocal: SettingCheck = (value) => {
  const local = isAddress(value, ['http:']) && isLoopback(new URL(value).hostname)
  return local ? null : checkHttps(value)
}

/** Rejects `*` in the host, which CORS would treat as a wildcard. */
const ORIGIN = /^https?:\/\/([\w.-]+|\[[\da-f:.]+\])(:\d+)?$/

/**
 * Whether the text is an origin exactly as browsers send it: lower case, no default port, no path.
 */
export function isOrigin(text: string): boolean {
  return ORIGIN.test(text) && URL.canParse(text) && new URL(text).origin === text
}

export const checkOrigin: SettingCheck = (value) =>
  typeof value === 'string' && isOrigin(value)
    ? null
    : 'must be an origin such as https://app.example.com'

export function isLoopback(hostname: string): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
}

export function checkListOf(check: SettingCheck, maxEntries = MAX_ENTRIES): SettingCheck {
  return (value) => {
    if (!Array.isArray(value)) return 'must be a list'
    if (value.length > maxEntries) return `must not hold more than ${maxEntries} entries`
    return value.map(check).find((problem) => problem !== null) ?? null
  }
}

export function checkRedirect(issuer: string): SettingCheck {
  return (value) =>
    typeof value === 'string' ? findNewRedirectProblem(value, issuer) : 'must be a URL'
}

/** Checks that a setting has the form of a JSON Web Key Set (RFC 7517 §5). */
export const checkKeySet: SettingCheck = (value) => {
  const { keys } = isRecord(value) ? value : {}
  if (!Array.isArray(keys) || keys.length === 0 || !keys.every(isKey)) {
    return 'must be a set of keys: { keys: [{ kty, … }] }'
  }
  return keys.length > MAX_KEYS ? `must not hold more than ${MAX_KEYS} keys` : null
}

/**
 * Checks that a JSON Web Key Set contains public keys only. A private key that was sent to the
 * server must be considered leaked.
 */
export const checkNoPrivateKey: SettingCheck = (value) => {
  const { keys } = isRecord(value) ? value : {}
  const secret = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k']
  const isPrivate = Array.isArray(keys) && keys.some((key) => secret.some((name) => name in key))
  return isPrivate ? 'must hold public keys only' : null
}

function isKey(value: unknown): boolean {
  return isRecord(value) && typeof value.kty === 'string'
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
