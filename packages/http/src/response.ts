/** An HTTP response, in the form that routes return in every framework. */
export interface HttpResponse {
  /** HTTP status. */
  readonly status: number
  /** Headers by lower-case name. A list becomes several headers, as `Set-Cookie` requires. */
  readonly headers: ResponseHeaders
  /** The body, or `null` if there is no body. */
  readonly body: string | Uint8Array<ArrayBuffer> | null
}

/** Header name to value, or to a list of values for `Set-Cookie`. */
export type ResponseHeaders = Readonly<Record<string, string | string[]>>

/**
 * Converts the response to a GET request into the response to HEAD: it has the same headers,
 * including the length of the body, but no body (RFC 9110 §9.3.2).
 */
export function withoutBody({ status, headers, body }: HttpResponse): HttpResponse {
  const length = String(body === null ? 0 : Buffer.byteLength(body))
  return { status, headers: { 'content-length': length, ...headers }, body: null }
}

/** Creates a 404 response for an unknown path. */
export function createNotFoundResponse(): HttpResponse {
  return {
    status: 404,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      pragma: 'no-cache',
      'x-content-type-options': 'nosniff',
    },
    body: '{"error":"not_found","message":"There is nothing at this address."}',
  }
}
