import type { MiddlewareHandler } from 'hono'
import type { Billing } from '../billing.ts'
import { fromWebRequest, toWebResponse } from '../http/exchange.ts'

/** What Hono gets. */
export interface HonoBilling {
  /** Both webhooks and the invoice download; other addresses pass on. `app.use(routes)` */
  readonly routes: MiddlewareHandler
}

/**
 * @example
 * app.use(forHono(billing).routes)
 */
/** Billing's routes for Hono 4. */
export function forHono(billing: Pick<Billing, 'handle' | 'handles'>): HonoBilling {
  return {
    async routes(c, next) {
      if (!billing.handles(c.req.path)) return next()
      const request = fromWebRequest(c.req.raw)
      // A middleware that has read the body left it with Hono.
      const readable = c.req.raw.bodyUsed ? { ...request, text: () => c.req.text() } : request
      return toWebResponse(await billing.handle(readable))
    },
  }
}
