import { mountFastify } from '@tollgate/http/fastify'
import type { FastifyPluginCallback } from 'fastify'
import type { Billing } from '../billing.ts'

/** What Fastify gets. */
export interface FastifyBilling {
  /** Both webhooks and the invoice download. `app.register(routes)` */
  readonly routes: FastifyPluginCallback
}

/**
 * Billing's routes for Fastify 5.
 * @example
 * app.register(forFastify(billing).routes)
 */
export function forFastify(billing: Pick<Billing, 'handle' | 'paths'>): FastifyBilling {
  return { routes: mountFastify(billing) }
}
