import type { CrossOrigin, CrossOriginRequest } from '../features/cross-origin.ts'
import type { AuthorizationServer } from '../server.ts'

/**
 * Returns the cross-origin rules of the server, for `cors()` of an adapter.
 * @throws TypeError if the server does not have the feature `cors()`
 */
export function requireCrossOrigin(oauth: Pick<AuthorizationServer, 'crossOrigin'>): CrossOrigin {
  if (oauth.crossOrigin) return oauth.crossOrigin
  throw noCrossOrigin()
}

export function noCrossOrigin(): TypeError {
  return new TypeError('cors() of an adapter needs cors() in the option features of the server')
}

/** Reads the cross-origin headers of a request, independent of the framework. */
export function crossOriginRequest(
  method: string,
  header: (name: string) => string | null | undefined,
): CrossOriginRequest {
  return {
    method,
    origin: header('origin') ?? null,
    preflightMethod: header('access-control-request-method') ?? null,
  }
}
