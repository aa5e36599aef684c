import { fromWebRequest, PayloadTooLarge, RequestCutOff } from '@tollgate/http'
import type { Context, MiddlewareHandler } from 'hono'
import type { AppEnv } from './variables.ts'

/**
 * Refuses larger bodies early. Hono's own makes a new Request where no length was sent, which works
 * only with Node's global classes replaced.
 */
export function limitBody(largest: number): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    const length = c.req.header('content-length')
    if (length !== undefined) {
      if (Number(length) > largest) throw new PayloadTooLarge(largest)
    } else if (c.req.header('transfer-encoding') !== undefined) {
      const text = await fromWebRequest(c.req.raw).text(largest)
      // Where every later reader looks first; it holds promises, whatever its type says.
      c.req.bodyCache.text = Promise.resolve(text) as unknown as string
    }
    return next()
  }
}

/** The body as text, after `limitBody`; every later reader gets the same. */
export async function readText(c: Context<AppEnv>): Promise<string> {
  return c.req.text().catch((cause) => {
    throw new RequestCutOff(cause)
  })
}
