import type { MountOptions } from '@tollgate/http'
import type { Guard } from '../guard/guard.ts'
import type { AuthorizationServer } from '../server.ts'
import type { ApplicationUser, CurrentUser, SignedOut } from '../users/users.ts'

/** What an adapter can be told. */
export interface AdapterOptions<FrameworkRequest> extends MountOptions<FrameworkRequest> {
  /**
   * Who is signed in, from what the framework's session has put on its own request. Asked instead of
   * `users.fromRequest()`, so mount the session before the routes.
   */
  readonly signedIn?: (request: FrameworkRequest) => CurrentUser | Promise<CurrentUser>
  /** Ends the session of your framework where a client signs somebody out. Asked instead of `users.signOut()`. */
  readonly signOut?: (request: FrameworkRequest) => SignedOut | Promise<SignedOut>
  /** The API that the guards protect, by its address in `resources`. Default: that of the server itself. */
  readonly resource?: string
}

/** The guard of the API that the adapter is told of. */
export function guardOf<User extends ApplicationUser, Claims extends object>(
  oauth: Pick<AuthorizationServer<User, Claims>, 'guard' | 'guardFor'>,
  { resource }: { readonly resource?: string },
): Guard<User, Claims> {
  return resource === undefined ? oauth.guard : oauth.guardFor(resource)
}
