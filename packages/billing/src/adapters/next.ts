import { type NextHandlers, nextHandlers } from '@tollgate/http/next'
import type { Billing } from '../billing.ts'

/** What Next gets. */
export interface NextBilling {
  /** `export const { POST } = handlers` in app/stripe/webhook/route.ts, and so on for the other paths. */
  readonly handlers: NextHandlers
}

/**
 * Next loads every route file when it builds. Give a function to connect to a database only when the
 * first request comes; it is called for each request and should give the same billing every time.
 * @example
 * export const { GET, POST } = forNext(billing).handlers
 */
export function forNext(
  source: Pick<Billing, 'fetch'> | (() => Pick<Billing, 'fetch'> | Promise<Pick<Billing, 'fetch'>>),
): NextBilling {
  return { handlers: nextHandlers(source) }
}
