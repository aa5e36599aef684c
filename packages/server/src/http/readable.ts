import type { MiddlewareHandler } from 'hono'
import type { AppEnv } from './variables.ts'

/** A query or form that is not text: a NUL, a broken escape, bytes that are not UTF-8. Answered with 400. */
export class UnreadableRequest extends Error {
  override readonly name = 'UnreadableRequest'

  constructor() {
    super('The request holds a character that cannot be accepted')
  }
}

/** No database keeps a NUL, and what stands for broken bytes was never sent. */
const UNREADABLE = /[\0\ufffd]/

/** Whether it can be decoded to text that every database holds. */
export function isReadable(encoded: string): boolean {
  if (!/[%\0\ufffd]/.test(encoded)) return true
  try {
    return !UNREADABLE.test(decodeURIComponent(encoded))
  } catch {
    return false
  }
}

/** For all that comes after it: what no handler could use is refused before one sees it (threat I4). */
export function refuseUnreadable(): MiddlewareHandler<AppEnv> {
  return (c, next) => {
    const start = c.req.url.indexOf('?')
    if (start >= 0 && !isReadable(c.req.url.slice(start))) throw new UnreadableRequest()
    return next()
  }
}
