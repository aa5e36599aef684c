import { Router } from '../../core/router.ts'
import { ROUTES } from '../wire/contract.generated.ts'
import type { Operation, Operations } from './operation.ts'

export interface Route {
  readonly operation: Operation
  readonly name: string
  /** The parameters' type, in the contract's nodes. */
  readonly params: number
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
  return routes
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
