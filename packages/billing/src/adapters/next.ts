import type { Billing } from '../billing.ts'

/** A handler of Next's App Router. */
export type RouteHandler = (request: Request) => Promise<Response>

/** What Next gets. */
export interface NextBilling {
  /** `export const { GET, POST } = handlers` in app/stripe/webhook/route.ts and the other paths. */
  readonly handlers: Readonly<Record<'GET' | 'POST', RouteHandler>>
}

type FetchesRoutes = Pick<Billing, 'fetch'>

/**
 * Next loads every route file when it builds. Give a function to connect to a database only when the
 * first request comes; it is called for each request and should give the same billing every time.
 * @example
 * export const { GET, POST } = forNext(billing).handlers
 */
export function forNext(
  source: FetchesRoutes | (() => FetchesRoutes | Promise<FetchesRoutes>),
): NextBilling {
  const answer: RouteHandler = async (request) => {
    const billing = typeof source === 'function' ? await source() : source
    return billing.fetch(request)
  }
  return { handlers: { GET: answer, POST: answer } }
}
