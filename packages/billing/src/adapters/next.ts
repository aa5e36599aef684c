import { type NextHandlers, nextHandlers } from '@tollgate/http/next'
import type { Billing } from '../billing.ts'

/** Result of `forNext()`. */
export interface NextBilling {
  /**
   * Route handlers by HTTP method, to export from a `route.ts` at each of billing's paths, such as
   * `app/stripe/webhook/route.ts`.
   */
  readonly handlers: NextHandlers
}

/**
 * Makes billing's route handlers for Next. Next loads every route file during the build: pass a
 * function to connect to the database only when a request arrives. The function is called for each
 * request and must return the same billing object every time.
 * @example
 * // app/stripe/webhook/route.ts
 * import { forNext } from '@tollgate/billing/next'
 *
 * export const { GET, POST } = forNext(billing).handlers
 */
export function forNext(
  source: Pick<Billing, 'fetch'> | (() => Pick<Billing, 'fetch'> | Promise<Pick<Billing, 'fetch'>>),
): NextBilling {
  return { handlers: nextHandlers(source) }
}
