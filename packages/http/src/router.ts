import { MethodNotAllowed } from './errors.ts'

/** The methods that routes have. */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS'

/** One line of a table of routes. A package adds what it needs, such as the function that responds. */
export interface Route {
  /** The method it answers to. */
  readonly method: Method
  /** Compared as it is sent. At most one segment may be a `{name}`, which stands for an id. */
  readonly path: string
  /** For GET: whether HEAD is answered too. `false` where the response to GET has effects, such as a code that is issued. @default true */
  readonly answersHead?: boolean
}

/** What a path leads to: its routes by method, and the id in it. */
export interface Match<R extends Route> {
  /** The routes at this path, by method. */
  readonly routes: ReadonlyMap<string, R>
  /** The id in the path; empty where it has none. */
  readonly id: string
}

/** Finds the route of a request. */
export interface Router<R extends Route> {
  /** The routes at this path; null when there are none. */
  match(path: string): Match<R> | null
  /** Every path, with `{name}` where a segment varies. */
  readonly paths: readonly string[]
}

const ID = /^[\w-]{1,64}$/
const PLACE_OF_ID = /\{\w+\}/

/** Paths are compared as they were sent, so no spelling of one reaches another's route. */
export function createRouter<R extends Route>(table: readonly R[]): Router<R> {
  const byPath = new Map<string, Map<string, R>>()
  for (const route of table) {
    const routes = byPath.get(route.path) ?? new Map<string, R>()
    if (routes.has(route.method)) {
      throw new TypeError(`Two routes want ${route.method} ${route.path}.`)
    }
    byPath.set(route.path, routes.set(route.method, route))
  }

  const fixed = new Map<string, Match<R>>()
  const withId: { routes: Map<string, R>; before: string; after: string }[] = []
  for (const [path, routes] of byPath) {
    const [before = '', after] = path.split(PLACE_OF_ID)
    if (after === undefined) fixed.set(path, { routes, id: '' })
    else withId.push({ routes, before, after })
  }

  function matchWithId(path: string): Match<R> | null {
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

/** Finds the route for a method; HEAD goes to GET's. Another method is a 405 that says what is allowed. */
export function requireRoute<R extends Route>(match: Match<R>, method: string): R {
  const route = match.routes.get(method === 'HEAD' ? 'GET' : method)
  if (!route || (method === 'HEAD' && route.answersHead === false)) {
    throw new MethodNotAllowed(allowedMethods(match))
  }
  return route
}

/** Lists the methods that a path answers to, as the header `Allow` has them. */
export function allowedMethods({ routes }: Match<Route>): string[] {
  return [...routes.values()].flatMap(({ method, answersHead }) =>
    method === 'GET' && answersHead !== false ? ['GET', 'HEAD'] : [method],
  )
}
