import { MethodNotAllowed } from './errors.ts'

/** HTTP methods of routes. */
export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS'

/**
 * A route: an HTTP method and a path. Packages that define routes add their own properties, such as
 * the function that responds.
 */
export interface Route {
  /** HTTP method of the route. */
  readonly method: HttpMethod
  /**
   * Path, compared exactly as it is sent. At most one segment may be a `{name}`, which matches an
   * id of 1 to 64 word characters and dashes.
   */
  readonly path: string
  /**
   * Whether HEAD is supported, too; for GET only. Use `false` if the response to GET has side
   * effects, such as issuing a code.
   * @default true
   */
  readonly answersHead?: boolean
}

/** Result of matching a path: its routes by method, and the id in it. */
export interface RouteMatch<R extends Route> {
  /** The routes at this path, by method. */
  readonly routes: ReadonlyMap<string, R>
  /** The id in the path. Empty if it has none. */
  readonly id: string
}

/** Finds the route of a request. */
export interface Router<R extends Route> {
  /** Returns the routes at this path, or `null` if there are none. */
  match(path: string): RouteMatch<R> | null
  /** Every path, with `{name}` for a variable segment. */
  readonly paths: readonly string[]
}

const ID = /^[\w-]{1,64}$/
const PLACE_OF_ID = /\{\w+\}/

/**
 * Creates a router. Paths are compared exactly as they are sent, so that no other spelling of a
 * path reaches its route.
 * @throws {TypeError} if two routes have the same method and path.
 * @example
 * ```ts
 * const router = createRouter([{ method: 'GET', path: '/notes/{id}', respond: readNote }])
 * const match = router.match('/notes/7') // null for an unknown path
 * if (match) await requireRoute(match, 'GET').respond(match.id)
 * ```
 */
export function createRouter<R extends Route>(table: readonly R[]): Router<R> {
  const byPath = new Map<string, Map<string, R>>()
  for (const route of table) {
    const routes = byPath.get(route.path) ?? new Map<string, R>()
    if (routes.has(route.method)) {
      throw new TypeError(`Two routes are defined for ${route.method} ${route.path}.`)
    }
    byPath.set(route.path, routes.set(route.method, route))
  }

  const fixed = new Map<string, RouteMatch<R>>()
  const withId: { routes: Map<string, R>; before: string; after: string }[] = []
  for (const [path, routes] of byPath) {
    const [before = '', after] = path.split(PLACE_OF_ID)
    if (after === undefined) fixed.set(path, { routes, id: '' })
    else withId.push({ routes, before, after })
  }

  function matchWithId(path: string): RouteMatch<R> | null {
    for (const { routes, before, after } of withId) {
      if (!path.startsWith(before) || !path.endsWith(after)) continue
      const id = path.slice(before.length, after ? -after.length : undefined)
      if (ID.test(id)) return { routes, id }
    }
    return null
  }

  return {
    match: (path) => fixed.get(path) ?? matchWithId(path),
    paths: [...byPath.keys()],
  }
}

/**
 * Returns the route for a method. HEAD uses the route for GET.
 * @throws {MethodNotAllowed} with the allowed methods if there is none.
 */
export function requireRoute<R extends Route>(match: RouteMatch<R>, method: string): R {
  const route = match.routes.get(method === 'HEAD' ? 'GET' : method)
  if (!route || (method === 'HEAD' && route.answersHead === false)) {
    throw new MethodNotAllowed(listAllowedMethods(match))
  }
  return route
}

/** Lists the methods that a path supports, for the header `Allow`. */
export function listAllowedMethods({ routes }: RouteMatch<Route>): string[] {
  return [...routes.values()].flatMap(({ method, answersHead }) =>
    method === 'GET' && answersHead !== false ? ['GET', 'HEAD'] : [method],
  )
}
