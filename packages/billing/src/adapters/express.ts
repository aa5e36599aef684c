import { mountExpress } from '@tollgate/http/express'
import type { RequestHandler } from 'express'
import type { Billing } from '../billing.ts'

/** Result of `forExpress()`. */
export interface ExpressBilling {
  /**
   * Serves the webhooks, the invoice download and the return from hosted pages; other requests pass
   * through. Mount it before body parsers and CSRF checks, because webhook signatures are verified
   * over the raw body.
   */
  readonly routes: RequestHandler
}

/**
 * Makes billing's routes for Express 5.
 * @example
 * import { forExpress } from '@tollgate/billing/express'
 *
 * app.use(forExpress(billing).routes) // before app.use(express.json())
 */
export function forExpress(billing: Pick<Billing, 'handle'>): ExpressBilling {
  return { routes: mountExpress(billing) }
}
