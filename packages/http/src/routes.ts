import type { HttpRequest, SignedInReader } from './request.ts'
import type { HttpResponse } from './response.ts'

/**
 * Routes of a package, such as an authorization server or billing, that a framework serves beside
 * its own.
 */
export interface HttpRoutes {
  /** Every path, with `{name}` for a variable segment. */
  readonly paths: readonly string[]
  /**
   * Handles a request. Returns `null` synchronously if the path belongs to none of these routes.
   * The promise never rejects.
   */
  handle(request: HttpRequest): Promise<HttpResponse> | null
}

/** Options for mounting routes in a framework. */
export interface MountOptions<FrameworkRequest> {
  /** Returns who is signed in, from the framework's own request and session. */
  readonly signedIn?: (request: FrameworkRequest) => unknown
  /** Ends the session of the framework's request. */
  readonly signOut?: (request: FrameworkRequest) => unknown
  /**
   * Returns the caller's IP address, for rate limits. By default this is `request.ip` in Express
   * and Fastify, and the socket's address in a plain Node server, unless that address is private,
   * because then it is most likely a proxy's. Hono has no default.
   */
  readonly address?: (request: FrameworkRequest) => string | undefined
}

/** Creates a function that calls the application's `signedIn` for this request. */
export function createSignedInReader<FrameworkRequest>(
  { signedIn }: MountOptions<FrameworkRequest>,
  request: FrameworkRequest,
): SignedInReader | undefined {
  return signedIn && (() => signedIn(request))
}

/** Creates a function that calls the application's `signOut` for this request. */
export function createSignOutFunction<FrameworkRequest>(
  { signOut }: MountOptions<FrameworkRequest>,
  request: FrameworkRequest,
): SignedInReader | undefined {
  return signOut && (() => signOut(request))
}
