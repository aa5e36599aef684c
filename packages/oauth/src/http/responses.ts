import type { HttpResponse } from '@tollgate/http'
import type { OAuthError } from '../errors.ts'

const NO_STORE = { 'cache-control': 'no-store', pragma: 'no-cache' }
const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' }
const REDIRECT = { 'referrer-policy': 'no-referrer', ...NO_STORE }
/** Headers of every token and management response, created once. */
const NO_STORE_JSON = { ...JSON_TYPE, ...NO_STORE, 'x-content-type-options': 'nosniff' }

export function jsonResponse(
  body: unknown,
  status = 200,
  headers: Record<string, string> = {},
): HttpResponse {
  return { status, headers: { ...JSON_TYPE, ...headers }, body: JSON.stringify(body) }
}

/**
 * Creates a JSON response that must not be cached, because it holds a credential or depends on the
 * caller (RFC 6749 §5.1).
 */
export function noStoreJsonResponse(
  body: unknown,
  status = 200,
  headers?: Readonly<Record<string, string>>,
): HttpResponse {
  return {
    status,
    headers: headers ? { ...NO_STORE_JSON, ...headers } : NO_STORE_JSON,
    body: JSON.stringify(body),
  }
}

export function emptyResponse(status = 204): HttpResponse {
  return { status, headers: NO_STORE, body: null }
}

/**
 * Creates a redirect with status 303, so that the browser does not send the body of a form to the
 * redirect target (threat A10).
 */
export function redirectResponse(location: string): HttpResponse {
  return { status: 303, headers: { location, ...REDIRECT }, body: null }
}

export function errorResponse(error: OAuthError): HttpResponse {
  return noStoreJsonResponse(error.body(), error.status, error.headers())
}
