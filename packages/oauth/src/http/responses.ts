import type { HttpResponse } from '@tollgate/http'
import type { OAuthError } from '../errors.ts'

const NO_STORE = { 'cache-control': 'no-store', pragma: 'no-cache' }
const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' }
const REDIRECT = { 'referrer-policy': 'no-referrer', ...NO_STORE }
/** Everything a token or management reply needs, in one object made once. */
const NO_STORE_JSON = { ...JSON_TYPE, ...NO_STORE, 'x-content-type-options': 'nosniff' }

export function json(
  body: unknown,
  status = 200,
  headers: Record<string, string> = {},
): HttpResponse {
  return { status, headers: { ...JSON_TYPE, ...headers }, body: JSON.stringify(body) }
}

/** RFC 6749 §5.1: whatever holds a credential or depends on who asks must not be cached. */
export function noStoreJson(
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

export function empty(status = 204): HttpResponse {
  return { status, headers: NO_STORE, body: null }
}

/** 303, so that the browser never repeats a form's body at the client (threat A10). */
export function redirect(location: string): HttpResponse {
  return { status: 303, headers: { location, ...REDIRECT }, body: null }
}

export function errorResponse(error: OAuthError): HttpResponse {
  return noStoreJson(error.body(), error.status, error.headers())
}
