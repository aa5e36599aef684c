/** The routes as a Web-standard handler, or a function that returns one. */
export type FetchSource = RoutesWithFetch | (() => RoutesWithFetch | Promise<RoutesWithFetch>)

/** An object that handles Web requests. */
export interface RoutesWithFetch {
  /** Returns the response to a request. */
  fetch(request: Request): Promise<Response>
}

/** A function that handles Web requests. */
export type FetchHandler = (request: Request) => Promise<Response>

/**
 * A handler for each method that a route file of Next can export. Methods that no route supports
 * get a 405 with the allowed methods.
 */
export type NextHandlers = Readonly<
  Record<'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS', FetchHandler>
>

/**
 * Creates the exports of a route file of Next. Next loads every route file at build time, so pass a
 * function if the routes need a database: this function runs for each request and should always
 * return the same object.
 * @example
 * ```ts
 * export const { GET, POST, PUT, PATCH, DELETE } = nextHandlers(() => openRoutes())
 * ```
 */
export function nextHandlers(source: FetchSource): NextHandlers {
  const handler: FetchHandler = async (request) => {
    const routes = typeof source === 'function' ? await source() : source
    return routes.fetch(request)
  }
  return {
    GET: handler,
    HEAD: handler,
    POST: handler,
    PUT: handler,
    PATCH: handler,
    DELETE: handler,
    OPTIONS: handler,
  }
}
