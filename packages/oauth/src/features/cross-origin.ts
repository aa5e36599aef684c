import {
  type HttpRequest,
  type HttpResponse,
  listAllowedMethods,
  type Route,
  type RouteMatch,
} from '@tollgate/http'
import { type Awaitable, mapAwaitable } from '../awaitable.ts'
import type { ServerContext } from '../context.ts'
import type { AllowedOrigins } from '../grants/grant.ts'
import type { CrossOriginPolicy, CrossOriginTarget } from './feature.ts'

/** The parts of a request that decide whether a page on another origin may read the response. */
export interface CrossOriginRequest {
  /** HTTP method in upper case. */
  readonly method: string
  /** The `Origin` header. `null` if it is absent. */
  readonly origin: string | null
  /**
   * The `Access-Control-Request-Method` header, which browsers send with a preflight. `null` if it
   * is absent.
   */
  readonly preflightMethod: string | null
}

/** The decision about a cross-origin request. */
export interface CrossOriginDecision {
  /** Headers for every response to the request, including rejections. */
  readonly headers: Readonly<Record<string, string>>
  /**
   * The complete response to a preflight, which is not handled further. `null` for other requests.
   */
  readonly preflight: HttpResponse | null
}

/** Decides which pages on other origins may call the guarded routes of the application (CORS). */
export interface CrossOriginRules {
  /**
   * Decides whether a page on another origin may call a route of the application. Call it before
   * the guard, because a preflight has no token.
   */
  decide(request: CrossOriginRequest): Awaitable<CrossOriginDecision>
}

interface OpenRoute extends Route {
  readonly openTo?: AllowedOrigins
}

/** How long browsers cache the response to a preflight, in seconds. */
const PREFLIGHT_CACHE_SECONDS = '600'
/**
 * Methods that preflights allow for routes of the application, which themselves reject the methods
 * they do not have.
 */
const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE'

export function createCrossOriginRules(
  policy: CrossOriginPolicy,
  context: ServerContext,
): CrossOriginRules {
  return {
    decide(request) {
      return mapAwaitable(mayRead(policy, request.origin, 'guarded', context), (allowed) => {
        const verdict = buildCorsDecision(policy, request, allowed, METHODS)
        // An OPTIONS request that is not a preflight belongs to the application.
        const isPreflight = request.origin !== null && request.preflightMethod !== null
        return isPreflight ? verdict : { ...verdict, preflight: null }
      })
    },
  }
}

/**
 * Decides whether a page on another origin may call a route of this server. `null` if the route is
 * not open to other origins.
 */
export function decideEndpointCrossOrigin(
  policy: CrossOriginPolicy,
  match: RouteMatch<OpenRoute>,
  request: HttpRequest,
  context: ServerContext,
): Awaitable<CrossOriginDecision> | null {
  const openTo = findAllowedOrigins(match)
  if (!openTo) return null
  const { method } = request
  const origin = request.header('origin')
  const readCrossOriginRequest = {
    method,
    origin,
    preflightMethod: request.header('access-control-request-method'),
  }
  const methods = listAllowedMethods(match).join(', ')
  if (openTo === 'anyone') return buildCorsDecision(policy, readCrossOriginRequest, '*', methods)
  return mapAwaitable(mayRead(policy, origin, 'endpoint', context), (allowed) =>
    buildCorsDecision(policy, readCrossOriginRequest, allowed, methods),
  )
}

/** Adds headers to a response. */
export function addResponseHeaders(
  response: HttpResponse,
  headers: Readonly<Record<string, string>>,
): HttpResponse {
  return { ...response, headers: { ...response.headers, ...headers } }
}

function findAllowedOrigins({ routes }: RouteMatch<OpenRoute>): AllowedOrigins | undefined {
  for (const { openTo } of routes.values()) if (openTo) return openTo
  return undefined
}

/**
 * Returns the origin as it was sent if it may read the response, otherwise `null`. Browsers send
 * the origin `null` for pages without one; it is never allowed, because any page can have it.
 */
function mayRead(
  policy: CrossOriginPolicy,
  origin: string | null,
  place: CrossOriginTarget,
  context: ServerContext,
): Awaitable<string | null> {
  if (origin === null || origin === 'null') return null
  return mapAwaitable(policy.allows(origin, place, context), (allowed) => (allowed ? origin : null))
}

/**
 * Creates the headers. Never sets `Access-Control-Allow-Credentials`, because pages on other
 * origins must not use cookies.
 */
function buildCorsDecision(
  policy: CrossOriginPolicy,
  { method, preflightMethod }: CrossOriginRequest,
  allowed: string | null,
  methods: string,
): CrossOriginDecision {
  const isPublic = allowed === '*'
  const headers = {
    ...(isPublic ? {} : { vary: 'Origin' }),
    ...(allowed !== null && {
      'access-control-allow-origin': allowed,
      'access-control-expose-headers': policy.responseHeaders.join(', '),
    }),
  }
  if (method !== 'OPTIONS') return { headers, preflight: null }
  const permission = {
    'access-control-allow-methods': methods,
    // No header has an effect on public routes, and clients send custom ones.
    'access-control-allow-headers': isPublic ? '*' : policy.requestHeaders.join(', '),
    'access-control-max-age': PREFLIGHT_CACHE_SECONDS,
  }
  const asks = preflightMethod !== null && allowed !== null
  return {
    headers,
    preflight: {
      status: 204,
      headers: { allow: `${methods}, OPTIONS`, ...headers, ...(asks ? permission : {}) },
      body: null,
    },
  }
}
