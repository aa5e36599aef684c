import type { HttpRequest, SignedInReader } from './request.ts'
import type { HttpResponse } from './response.ts'

/** Routes that a framework serves beside its own: those of an authorization server, or of billing. */
export interface HttpRoutes {
  /** Every path, with `{name}` where a segment varies. */
  readonly paths: readonly string[]
  /** Null, at once, for an address that is none of these. The promise never rejects. */
  handle(request: HttpRequest): Promise<HttpResponse> | null
}

/** How routes are mounted. */
export interface MountOptions<FrameworkRequest> {
  /** Who is signed in, from what the framework's session has put on its own request. */
  readonly signedIn?: (request: FrameworkRequest) => unknown
  /** Ends the session that the framework has for its own request. */
  readonly signOut?: (request: FrameworkRequest) => unknown
  /**
   * The address of the caller, for limits. Default: what Express and Fastify call `request.ip`, and the socket of a plain
   * Node server, unless that is a private address: it is most likely a proxy's. Hono cannot tell.
   */
  readonly address?: (request: FrameworkRequest) => string | undefined
}

/** Makes a reader of what the application says about its requests. */
export function signedInReader<FrameworkRequest>(
  { signedIn }: MountOptions<FrameworkRequest>,
  request: FrameworkRequest,
): SignedInReader | undefined {
  return signedIn && (() => signedIn(request))
}

/** The same for what ends the session. */
export function signOutCaller<FrameworkRequest>(
  { signOut }: MountOptions<FrameworkRequest>,
  request: FrameworkRequest,
): SignedInReader | undefined {
  return signOut && (() => signOut(request))
}
