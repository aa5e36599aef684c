import { mountFastify } from '@tollgate/http/fastify'
import type { FastifyPluginCallback } from 'fastify'
import type { Billing } from '../billing.ts'

/** Result of `forFastify()`. */
export interface FastifyBilling {
  /** Plugin that serves the webhooks, the invoice download and the return from hosted pages. */
  readonly routes: FastifyPluginCallback
}

/**
 * Makes billing's routes for Fastify 5.
 * @example
 * import { forFastify } from '@tollgate/billing/fastify'
 *
 * app.register(forFastify(billing).routes)
 */
export function forFastify(billing: Pick<Billing, 'handle' | 'paths'>): FastifyBilling {
  return { routes: mountFastify(billing) }
}
