import type { SignedInReader } from '../http/exchange.ts'
import type { Session } from '../users/users.ts'

export interface AdapterOptions<FrameworkRequest> {
  /**
   * Who is signed in, from what the framework's session has put on its own request. Asked instead of
   * `users.fromRequest()`, so mount the session before the routes.
   */
  readonly signedIn?: (request: FrameworkRequest) => Session | Promise<Session>
}

export function signedInReader<FrameworkRequest>(
  { signedIn }: AdapterOptions<FrameworkRequest>,
  request: FrameworkRequest,
): SignedInReader | undefined {
  return signedIn && (() => signedIn(request))
}
