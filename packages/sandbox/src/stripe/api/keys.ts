import type { HttpRequest } from '../../core/http.ts'
import { createFaultWithStatus, StripeFault } from '../wire/errors.ts'

export interface ApiKeys {
  readonly apiKey: string
  readonly publishableKey: string
}

/** Kind of API caller: a server with the secret key, or a web page with the publishable key. */
export type ApiCaller = 'server' | 'page'

export function authenticateCall(request: HttpRequest, keys: ApiKeys): ApiCaller {
  const key = keyOf(request)
  if (key === keys.apiKey) return 'server'
  if (key === keys.publishableKey) return 'page'
  if (key === null) {
    throw createFaultWithStatus(
      401,
      "You did not provide an API key. You need to provide your API key in the Authorization header, using Bearer auth (e.g. 'Authorization: Bearer YOUR_SECRET_KEY'). See https://stripe.com/docs/api#authentication for details, or we can help at https://support.stripe.com/.",
    )
  }
  throw createFaultWithStatus(401, `Invalid API Key provided: ${maskKey(key)}`)
}

/**
 * Authenticates a call to the meter event stream by its session token. `endOf` returns when the
 * session of a token expires, in Unix seconds, or `null` for an unknown token.
 */
export function authenticateSession(
  request: HttpRequest,
  endOf: (token: string) => number | null,
  now: number,
): ApiCaller {
  const token = keyOf(request)
  const end = token === null ? null : endOf(token)
  if (end === null) {
    throw createFaultWithStatus(
      401,
      'The meter event stream takes the authentication token of a meter event session, not an API key: create one with POST /v2/billing/meter_event_session.',
    )
  }
  if (end > now) return 'server'
  throw new StripeFault(400, {
    type: 'temporary_session_expired',
    code: 'billing_meter_event_session_expired',
    message: 'The session has expired: create another one.',
  })
}

function keyOf(request: HttpRequest): string | null {
  const header = request.headers.authorization ?? ''
  const bearer = /^Bearer (.+)$/i.exec(header)?.[1]
  if (bearer) return bearer
  const basic = /^Basic (.+)$/i.exec(header)?.[1]
  if (basic) return Buffer.from(basic, 'base64').toString('utf8').split(':')[0] || null
  return readFormKey(request)
}

/**
 * Reads the key from the parameters, where pages may send the publishable key. A secret key is not
 * accepted there.
 */
function readFormKey(request: HttpRequest): string | null {
  const text = request.method === 'POST' ? request.body.toString('utf8') : request.query
  const key = new URLSearchParams(text).get('key')
  return key?.startsWith('pk_') ? key : null
}

export function maskKey(key: string): string {
  if (key.length < 12) return '*'.repeat(key.length)
  return `${key.slice(0, 8)}${'*'.repeat(key.length - 12)}${key.slice(-4)}`
}

/**
 * Whether a request comes from the sandbox's own card field (an iframe on the sandbox's origin).
 * Only these requests may contain card numbers.
 */
export function isFromCardField(request: HttpRequest): boolean {
  const { origin, host } = request.headers
  return origin !== undefined && URL.canParse(origin) && new URL(origin).host === host
}
