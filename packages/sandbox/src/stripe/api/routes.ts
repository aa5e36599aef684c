import { Router } from '../../core/router.ts'
import { ROUTES } from '../wire/contract.generated.ts'
import type { Operation, Operations } from './operation.ts'
import { type Node, withPaging } from './parameters.ts'

export interface Route {
  readonly operation: Operation
  readonly name: string
  /** The parameters' type, or its place in the contract's nodes. */
  readonly params: number | Node
}

/** The contract's routes, as far as there are operations for them. */
export function createRouter(operations: Operations): Router<Route> {
  const router = new Router<Route>()
  for (const [method, path, name, params] of ROUTES) {
    const operation = operations[name]
    if (operation) router.add(method, path, { operation, name, params })
  }
  return router
}

/** The same by the operation's name, for addresses that only older versions have. */
export function createRoutesByName(operations: Operations): ReadonlyMap<string, Route> {
  const routes = new Map<string, Route>()
  for (const [, , name, params] of ROUTES) {
    const operation = operations[name]
    if (operation) routes.set(name, { operation, name, params })
  }
  for (const [name, of] of Object.entries(PAGES_OF)) {
    const [operation, whole] = [operations[name], routes.get(of)]
    if (!operation || !whole) continue
    // It takes what the other one takes, so what changed there has changed here.
    routes.set(name, { operation, name: of, params: withPaging(whole.params) })
  }
  for (const [name, params] of Object.entries(NO_LONGER_IN_CONTRACT)) {
    const operation = operations[name]
    if (operation) routes.set(name, { operation, name, params })
  }
  return routes
}

/** Lists that no contract has any more, and the call that answers with their first page. */
const PAGES_OF: Readonly<Record<string, string>> = {
  'Invoices.listUpcomingLines': 'Invoices.createPreview',
}

/** Calls that no contract has any more, with their parameters. */
const NO_LONGER_IN_CONTRACT: Readonly<Record<string, Node>> = {
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

/** The ids of a path, in order. */
export function idsOf(params: Readonly<Record<string, string>>): string[] {
  return Object.values(params).map(decodeSegment)
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
