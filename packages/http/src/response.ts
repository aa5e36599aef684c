/** What a route gives back, whatever the framework. */
export interface HttpResponse {
  /** The status code. */
  readonly status: number
  /** Names in small letters. Several values become several headers, as cookies need them. */
  readonly headers: ResponseHeaders
  /** What is sent; null for nothing. */
  readonly body: string | Uint8Array<ArrayBuffer> | null
}

/** Header → value; several for `Set-Cookie`. */
export type ResponseHeaders = Readonly<Record<string, string | string[]>>

/** RFC 9110 §9.3.2: HEAD is answered like GET, with its length and without its content. */
export function withoutBody({ status, headers, body }: HttpResponse): HttpResponse {
  const length = String(body === null ? 0 : Buffer.byteLength(body))
  return { status, headers: { 'content-length': length, ...headers }, body: null }
}

/** For an address that is nobody's. */
export function notFound(): HttpResponse {
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
