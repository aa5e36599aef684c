import type { MountOptions } from '@tollgate/http'
import type { Guard } from '../guard/guard.ts'
import type { AuthorizationServer, GuardTarget } from '../server.ts'
import type { ApplicationUser, CurrentUser, SignedOut } from '../users/users.ts'

/** Options of a framework adapter, such as `forExpress()`. */
export interface AdapterOptions<FrameworkRequest> extends MountOptions<FrameworkRequest> {
  /**
   * Returns the signed-in user from the framework's own request, where its session middleware has
   * stored the user. Called instead of `users.fromRequest()`, so mount the session middleware
   * before the routes.
   */
  readonly signedIn?: (request: FrameworkRequest) => CurrentUser | Promise<CurrentUser>
  /**
   * Ends the session of your framework when a client signs the user out. Called instead of
   * `users.signOut()`.
   */
  readonly signOut?: (request: FrameworkRequest) => SignedOut | Promise<SignedOut>
  /**
   * URI of the API that the guards protect, as in the option `resources`. If absent, the server's
   * own API.
   */
  readonly resource?: string
  /**
   * Name of the user provider whose users the guards accept. If absent, users of every provider.
   */
  readonly provider?: string
}

/**
 * Returns the guard for the API and the user provider given in the adapter's options. If neither is
 * given, returns the server's default guard.
 */
export function createAdapterGuard<User extends ApplicationUser, Claims extends object>(
  oauth: Pick<AuthorizationServer<User, Claims>, 'guard' | 'guardFor'>,
  target: GuardTarget,
): Guard<User, Claims> {
  const { resource, provider } = target
  return resource === undefined && provider === undefined ? oauth.guard : oauth.guardFor(target)
}
