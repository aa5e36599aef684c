import {
  allowedMethods,
  type HttpRequest,
  type HttpResponse,
  type Match,
  type Route,
} from '@tollgate/http'
import { type Awaitable, mapAwaitable } from '../awaitable.ts'
import type { ServerContext } from '../context.ts'
import type { OpenTo } from '../grants/grant.ts'
import type { CalledPlace, CrossOriginPolicy } from './feature.ts'

/** What of a request decides whether a page on another origin may read the response. */
export interface CrossOriginRequest {
  /** In capital letters. */
  readonly method: string
  /** The header `Origin`; null where there is none. */
  readonly origin: string | null
  /** The header `Access-Control-Request-Method`: a browser asks before it sends the request itself. */
  readonly asksFor: string | null
}

/** What a response says to pages on other origins. */
export interface CrossOriginVerdict {
  /** Headers that every response to the request has, refusals included. */
  readonly headers: Readonly<Record<string, string>>
  /** The whole response where the browser only asks; the request is not let through. */
  readonly preflight: HttpResponse | null
}

/** Decides what pages on other origins may read. */
export interface CrossOrigin {
  /** Answers for a route of the application, before its guard is asked: a preflight carries no token. */
  ask(request: CrossOriginRequest): Awaitable<CrossOriginVerdict>
}

interface OpenRoute extends Route {
  readonly openTo?: OpenTo
}

/** Browsers ask again after so long. */
const PREFLIGHT_KEPT = '600'
/** At routes of the application, which may have others too: the route decides. */
const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE'

export function guardedCrossOrigin(policy: CrossOriginPolicy, context: ServerContext): CrossOrigin {
  return {
    ask(request) {
      return mapAwaitable(mayRead(policy, request.origin, 'guarded', context), (allowed) => {
        const verdict = verdictOf(policy, request, allowed, METHODS)
        // An OPTIONS that no browser asks before another request is the application's own.
        const isPreflight = request.origin !== null && request.asksFor !== null
        return isPreflight ? verdict : { ...verdict, preflight: null }
      })
    },
  }
}

/** For routes of our own: null where pages on other origins have no business. */
export function endpointCrossOrigin(
  policy: CrossOriginPolicy,
  match: Match<OpenRoute>,
  request: HttpRequest,
  context: ServerContext,
): Awaitable<CrossOriginVerdict> | null {
  const openTo = openingOf(match)
  if (!openTo) return null
  const { method } = request
  const origin = request.header('origin')
  const asked = { method, origin, asksFor: request.header('access-control-request-method') }
  const methods = allowedMethods(match).join(', ')
  if (openTo === 'anyone') return verdictOf(policy, asked, '*', methods)
  return mapAwaitable(mayRead(policy, origin, 'endpoint', context), (allowed) =>
    verdictOf(policy, asked, allowed, methods),
  )
}

/** Adds to what the response says itself. */
export function withHeaders(
  response: HttpResponse,
  headers: Readonly<Record<string, string>>,
): HttpResponse {
  return { ...response, headers: { ...response.headers, ...headers } }
}

function openingOf({ routes }: Match<OpenRoute>): OpenTo | undefined {
  for (const { openTo } of routes.values()) if (openTo) return openTo
  return undefined
}

/** The origin, as it was sent, or null. `null` is what browsers say for pages that have none: anybody's. */
function mayRead(
  policy: CrossOriginPolicy,
  origin: string | null,
  place: CalledPlace,
  context: ServerContext,
): Awaitable<string | null> {
  if (origin === null || origin === 'null') return null
  return mapAwaitable(policy.allows(origin, place, context), (allowed) => (allowed ? origin : null))
}

/** Never `Access-Control-Allow-Credentials`: cookies are no business of pages elsewhere. */
function verdictOf(
  policy: CrossOriginPolicy,
  { method, asksFor }: CrossOriginRequest,
  allowed: string | null,
  methods: string,
): CrossOriginVerdict {
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
    // Nothing is decided by a header there, and clients send some of their own.
    'access-control-allow-headers': isPublic ? '*' : policy.requestHeaders.join(', '),
    'access-control-max-age': PREFLIGHT_KEPT,
  }
  const asks = asksFor !== null && allowed !== null
  return {
    headers,
    preflight: {
      status: 204,
      headers: { allow: `${methods}, OPTIONS`, ...headers, ...(asks ? permission : {}) },
      body: null,
    },
  }
}
