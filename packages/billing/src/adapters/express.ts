import type { RequestHandler } from 'express'
import type { Billing } from '../billing.ts'
import { nodeListener } from './node.ts'

/** What Express gets. */
export interface ExpressBilling {
  /** Both webhooks and the invoice download; other addresses pass on. Before body parsers and CSRF. */
  readonly routes: RequestHandler
}

/**
 * @example
 * app.use(forExpress(billing).routes) // before app.use(express.json())
 */
/** Billing's routes for Express 5. */
export function forExpress(billing: Pick<Billing, 'handle' | 'handles'>): ExpressBilling {
  const listener = nodeListener(billing)
  return {
    routes(request, response, next) {
      const path = request.originalUrl.split('?', 1)[0] ?? '/'
      if (billing.handles(path)) listener(request, response)
      else next()
    },
  }
}
