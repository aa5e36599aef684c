import { createRecentCache } from '../caches/recent-cache.ts'

/** Schemes that run scripts, read the device or do not lead back to an application (threat A5). */
const FORBIDDEN_SCHEMES = new Set(
  'javascript vbscript livescript data file filesystem blob about view-source jar intent ftp ftps mailto tel sms ws wss'.split(
    ' ',
  ),
)
/**
 * Parameters of authorization responses. In a redirect URI, they could be mistaken for parameters
 * of this server (threat A4).
 */
const RESPONSE_PARAMETERS = new Set(
  'code state error error_description error_uri iss scope access_token token_type expires_in refresh_token id_token'.split(
    ' ',
  ),
)
const MAX_LENGTH = 2000
const CACHE_SIZE = 1000
/** Printable ASCII, except characters that browsers rewrite or that end a header or attribute. */
const PLAIN_URI = /^[a-z][a-z0-9+.-]*:[\x21\x23-\x3b\x3d\x3f-\x5b\x5d\x5f\x61-\x7a\x7e]+$/
/**
 * Hosts without characters such as `;`, which URLs allow but which have a meaning in the
 * Content-Security-Policy of our page.
 */
const PLAIN_HOST = /^[\w.-]+$|^\[[\da-f:.]+\]$/
const DOT_SEGMENT = /(^|\/)(\.|%2e){1,2}(\/|$)/i
const LOOPBACK = /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(?::([1-9]\d{0,4}))?(\/.*)?$/

/**
 * Checks a redirect URI. Returns `null` if it is acceptable, otherwise the problem, worded for the
 * person who registers it.
 */
export function findRedirectProblem(uri: string): string | null {
  if (uri.length > MAX_LENGTH) return `must not be longer than ${MAX_LENGTH} characters`
  if (uri.includes('#')) return 'must not have a fragment (#)'
  if (!PLAIN_URI.test(uri)) {
    return 'must be an absolute URL in plain ASCII, such as https://app.example.com/callback'
  }
  const scheme = uri.slice(0, uri.indexOf(':'))
  if (FORBIDDEN_SCHEMES.has(scheme)) return `must not use the scheme ${scheme}:`
  if (!URL.canParse(uri)) return 'is not a valid URL'
  const url = new URL(uri)
  if (url.username !== '' || url.password !== '') return 'must not contain a user name or password'
  const web = scheme === 'https' || scheme === 'http'
  if (web && (url.hostname === '' || !uri.startsWith(`${scheme}://`))) return 'must name a host'
  if (web && !PLAIN_HOST.test(url.hostname)) return 'must name a host of letters, digits and dots'
  // A browser would rewrite the URL and might send the user elsewhere than to the URL we compared.
  if (web && url.href !== uri && url.href !== `${uri}/`) return `should be written ${url.href}`
  if (DOT_SEGMENT.test(pathOf(uri))) return 'must not have dot segments in its path'
  const reserved = [...url.searchParams.keys()].find((name) => RESPONSE_PARAMETERS.has(name))
  if (reserved)
    return `must not have the query parameter '${reserved}', which the authorization response uses`
  return null
}

/**
 * Checks a new redirect URI, which must not use plain http except for loopback addresses and the
 * server itself. URIs that are already stored only need to pass `findRedirectProblem()`.
 */
export function findNewRedirectProblem(uri: string, issuer: string): string | null {
  if (splitRedirects(uri).length > 1) {
    return 'looks like several URLs; give them one by one, or write a comma in a URL as %2C'
  }
  const problem = findRedirectProblem(uri)
  if (problem) return problem
  if (!isUnencryptedRedirect(uri, issuer)) return null
  return 'must use https: (http: only for 127.0.0.1, [::1] and localhost)'
}

/** Whether a response sent to this URI could be read on the network. */
export function isUnencryptedRedirect(uri: string, issuer: string): boolean {
  if (!uri.startsWith('http:') || LOOPBACK.test(uri)) return false
  return new URL(uri).origin !== new URL(issuer).origin
}

function pathOf(uri: string): string {
  const end = uri.indexOf('?')
  return uri.slice(uri.indexOf(':') + 1, end < 0 ? undefined : end)
}

/**
 * Whether a requested redirect URI equals the registered one. Only the port of a loopback URI may
 * differ, because native apps choose it at run time (RFC 8252 §7.3, RFC 9700 §4.1.3).
 */
export function matchesRedirect(registered: string, requested: string): boolean {
  if (!isUsable(registered)) return false
  if (registered === requested) return true
  const known = LOOPBACK.exec(registered)
  const asked = LOOPBACK.exec(requested)
  if (!known || !asked) return false
  return known[1] === asked[1] && known[3] === asked[3] && Number(asked[2] ?? 80) <= 65_535
}

const usable = createRecentCache<boolean>(CACHE_SIZE)

/** Caches the check, because parsing a URL costs more than the rest of an authorization request. */
function isUsable(registered: string): boolean {
  const known = usable.get(registered)
  if (known !== undefined) return known
  const found = findRedirectProblem(registered) === null
  usable.set(registered, found)
  return found
}

/**
 * Splits the JSON field `redirect` into redirect URIs. A comma separates two URIs only if another
 * scheme follows; other commas belong to the URI.
 */
export function splitRedirects(text: string): string[] {
  return text === '' ? [] : text.split(BETWEEN).map((part) => part.trim())
}

const BETWEEN = /,(?=\s*(?:[a-z][a-z0-9+.-]*:|$|,))/i

export function joinRedirects(uris: readonly string[]): string {
  return uris.join(',')
}
