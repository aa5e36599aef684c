import { mountHono } from '@tollgate/http/hono'
import type { MiddlewareHandler } from 'hono'
import type { Billing } from '../billing.ts'

/** Result of `forHono()`. */
export interface HonoBilling {
  /**
   * Serves the webhooks, the invoice download and the return from hosted pages; other requests pass
   * through.
   */
  readonly routes: MiddlewareHandler
}

/**
 * Makes billing's routes for Hono 4.
 * @example
 * import { forHono } from '@tollgate/billing/hono'
 *
 * app.use(forHono(billing).routes)
 */
export function forHono(billing: Pick<Billing, 'handle'>): HonoBilling {
  return { routes: mountHono(billing) }
}
