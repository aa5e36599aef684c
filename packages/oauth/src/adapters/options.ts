import type { MountOptions } from '@tollgate/http'
import type { CurrentUser } from '../users/users.ts'

/** What an adapter can be told. */
export interface AdapterOptions<FrameworkRequest> extends MountOptions<FrameworkRequest> {
  /**
   * Who is signed in, from what the framework's session has put on its own request. Asked instead of
   * `users.fromRequest()`, so mount the session before the routes.
   */
  readonly signedIn?: (request: FrameworkRequest) => CurrentUser | Promise<CurrentUser>
}
