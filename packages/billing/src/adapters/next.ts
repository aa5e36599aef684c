import type { Billing } from '../billing.ts'

export type RouteHandler = (request: Request) => Promise<Response>

export interface NextBilling {
  /** `export const { GET, POST } = handlers` in app/stripe/webhook/route.ts and the other paths. */
  readonly handlers: Readonly<Record<'GET' | 'POST', RouteHandler>>
}

/**
 * @example
 * export const { GET, POST } = forNext(billing).handlers
 */
export function forNext(billing: Pick<Billing, 'fetch'>): NextBilling {
  const answer: RouteHandler = (request) => billing.fetch(request)
  return { handlers: { GET: answer, POST: answer } }
}
