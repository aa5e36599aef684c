import { PathRouter } from '../../core/router.ts'
import { ROUTES } from '../wire/contract.generated.ts'
import type { StripeOperation } from './operation.ts'
import { type SchemaNode, withPaging } from './parameters.ts'

export interface StripeRoute {
  readonly operation: StripeOperation
  readonly name: string
  /** Type of the parameters, or its index in `NODES`. */
  readonly params: number | SchemaNode
}

/** Creates a router with all routes of the generated contract for which there is an operation. */
export function createRouter(
  operations: Readonly<Record<string, StripeOperation>>,
): PathRouter<StripeRoute> {
  const router = new PathRouter<StripeRoute>()
  for (const [method, path, name, params] of ROUTES) {
    const operation = operations[name]
    if (operation) router.add(method, path, { operation, name, params })
  }
  return router
}

/** Returns all routes by operation name. Needed for paths that exist only in older API versions. */
export function createRoutesByName(
  operations: Readonly<Record<string, StripeOperation>>,
): ReadonlyMap<string, StripeRoute> {
  const routes = new Map<string, StripeRoute>()
  for (const [, , name, params] of ROUTES) {
    const operation = operations[name]
    if (operation) routes.set(name, { operation, name, params })
  }
  for (const [name, of] of Object.entries(REMOVED_LISTS)) {
    const [operation, whole] = [operations[name], routes.get(of)]
    if (!operation || !whole) continue
    // Accepts the parameters of the other operation, so version changes of that one apply here,
    // too.
    routes.set(name, { operation, name: of, params: withPaging(whole.params) })
  }
  for (const [name, params] of Object.entries(REMOVED_OPERATIONS)) {
    const operation = operations[name]
    if (operation) routes.set(name, { operation, name, params })
  }
  return routes
}

/**
 * List operations that were removed from the API, and the operation that returns their first page.
 */
const REMOVED_LISTS: Readonly<Record<string, string>> = {
  'Invoices.listUpcomingLines': 'Invoices.createPreview',
}

/** Other operations that were removed from the API, with their parameter types. */
const REMOVED_OPERATIONS: Readonly<Record<string, SchemaNode>> = {
  'SubscriptionItems.createUsageRecord': {
    o: {
      action: { e: ['increment', 'set'] },
      expand: { a: 's' },
      quantity: 'n',
      timestamp: { u: [{ e: ['now'] }, 'n'] },
    },
    r: ['quantity'],
  },
  'SubscriptionItems.listUsageRecordSummaries': {
    o: { ending_before: 's', expand: { a: 's' }, limit: 'n', starting_after: 's' },
  },
}

/** Returns the ids in the path of a call, in order. */
export function listPathIds(params: Readonly<Record<string, string>>): string[] {
  return Object.values(params).map(decodeSegment)
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
