import { fromWebRequest, PayloadTooLarge, RequestCutOff } from '@tollgate/http'
import type { Context, MiddlewareHandler } from 'hono'
import { defineError } from '../service-error.ts'
import type { AppEnv } from './variables.ts'

/**
 * Thrown if the query or form contains a NUL, an invalid escape sequence, or bytes that are not
 * UTF-8. Results in a response with status 400.
 */
export class UnreadableRequest extends defineError(
  'invalid-request',
  'The request contains a NUL, an invalid escape sequence or bytes that are not UTF-8',
) {}

/** No database stores a NUL. U+FFFD replaced invalid bytes during decoding. */
const UNREADABLE = /[\0\ufffd]/

/** Whether URL-encoded text can be decoded, and then stored in every supported database. */
export function isReadable(encoded: string): boolean {
  if (!/[%\0\ufffd]/.test(encoded)) return true
  try {
    return !UNREADABLE.test(decodeURIComponent(encoded))
  } catch {
    return false
  }
}

/**
 * Rejects an unreadable query before any later handler sees it (threat I4).
 * @throws UnreadableRequest
 */
export function rejectUnreadable(): MiddlewareHandler<AppEnv> {
  return (c, next) => {
    const start = c.req.url.indexOf('?')
    if (start >= 0 && !isReadable(c.req.url.slice(start))) throw new UnreadableRequest()
    return next()
  }
}

/**
 * Rejects request bodies that are larger than the given number of bytes.
 * @throws PayloadTooLarge
 */
export function limitBody(largest: number): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    const length = c.req.header('content-length')
    if (length !== undefined) {
      if (Number(length) > largest) throw new PayloadTooLarge(largest)
    } else if (c.req.header('transfer-encoding') !== undefined) {
      const text = await fromWebRequest(c.req.raw).text(largest)
      // Hono's readers look here first. The cache holds promises, contrary to its type.
      c.req.bodyCache.text = Promise.resolve(text) as unknown as string
    }
    return next()
  }
}

/**
 * Reads the body as text, after `limitBody`. May be called repeatedly.
 * @throws RequestCutOff if the client stopped sending.
 */
export async function readText(c: Context<AppEnv>): Promise<string> {
  return c.req.text().catch((cause) => {
    throw new RequestCutOff(cause)
  })
}
