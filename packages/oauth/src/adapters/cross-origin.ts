import type { CrossOriginRequest, CrossOriginRules } from '../features/cross-origin.ts'
import type { AuthorizationServer } from '../server.ts'

/**
 * Returns the cross-origin (CORS) rules of the server. Used by the `cors()` middleware of each
 * framework adapter.
 * @throws TypeError if the server does not have the feature `cors()`
 */
export function requireCrossOrigin(
  oauth: Pick<AuthorizationServer, 'crossOrigin'>,
): CrossOriginRules {
  if (oauth.crossOrigin) return oauth.crossOrigin
  throw createMissingCorsFeatureError()
}

export function createMissingCorsFeatureError(): TypeError {
  return new TypeError(
    "The adapter's cors() needs the feature cors() in the server's option features",
  )
}

/**
 * Reads the method and the CORS headers of a request. `header` returns a request header by name, so
 * that this works with every framework.
 */
export function readCrossOriginRequest(
  method: string,
  header: (name: string) => string | null | undefined,
): CrossOriginRequest {
  return {
    method,
    origin: header('origin') ?? null,
    preflightMethod: header('access-control-request-method') ?? null,
  }
}
