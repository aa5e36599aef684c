import { mountHono } from '@tollgate/http/hono'
import type { MiddlewareHandler } from 'hono'
import type { Billing } from '../billing.ts'

/** What Hono gets. */
export interface HonoBilling {
  /** Both webhooks and the invoice download; other addresses pass on. `app.use(routes)` */
  readonly routes: MiddlewareHandler
}

/**
 * Billing's routes for Hono 4.
 * @example
 * app.use(forHono(billing).routes)
 */
export function forHono(billing: Pick<Billing, 'handle'>): HonoBilling {
  return { routes: mountHono(billing) }
}
