import type { CrossOrigin, CrossOriginRequest } from '../features/cross-origin.ts'
import type { AuthorizationServer } from '../server.ts'

/** For `cors()` of an adapter: the server has to know which origins there are. */
export function requireCrossOrigin(oauth: Pick<AuthorizationServer, 'crossOrigin'>): CrossOrigin {
  if (oauth.crossOrigin) return oauth.crossOrigin
  throw noCrossOrigin()
}

export function noCrossOrigin(): TypeError {
  return new TypeError('cors() of an adapter needs cors() in the option features of the server')
}

/** What is asked, whatever the framework calls its headers. */
export function crossOriginRequest(
  method: string,
  header: (name: string) => string | null | undefined,
): CrossOriginRequest {
  return {
    method,
    origin: header('origin') ?? null,
    asksFor: header('access-control-request-method') ?? null,
  }
}
