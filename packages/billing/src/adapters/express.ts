import { mountExpress } from '@tollgate/http/express'
import type { RequestHandler } from 'express'
import type { Billing } from '../billing.ts'

/** What Express gets. */
export interface ExpressBilling {
  /** Both webhooks and the invoice download; other addresses pass on. Before body parsers and CSRF. */
  readonly routes: RequestHandler
}

/**
 * Billing's routes for Express 5.
 * @example
 * app.use(forExpress(billing).routes) // before app.use(express.json())
 */
export function forExpress(billing: Pick<Billing, 'handle'>): ExpressBilling {
  return { routes: mountExpress(billing) }
}
