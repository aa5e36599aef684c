/** The routes as a Web-standard handler, or a function that gives one. */
export type FetchSource = FetchesRoutes | (() => FetchesRoutes | Promise<FetchesRoutes>)

/** Something that answers Web requests. */
export interface FetchesRoutes {
  /** The response to a request. */
  fetch(request: Request): Promise<Response>
}

/** A handler of Web requests. */
export type FetchHandler = (request: Request) => Promise<Response>

/** Every method a route file of Next may export. Those that no route takes are a 405 that says what is allowed. */
export type NextHandlers = Readonly<
  Record<'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS', FetchHandler>
>

/**
 * Next loads every route file when it builds. Give a function to connect to a database only when the
 * first request comes; it is called for each request and should give the same object every time.
 * @example
 * export const { GET, POST, PUT, PATCH, DELETE } = nextHandlers(routes)
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
