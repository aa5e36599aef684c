import type { HttpBindings } from '@hono/node-server'
import type { AuthenticatedUser } from '@tollgate/oauth'
import type { PageContext } from '../pages/parts/page-context.ts'
import type { User } from '../users/user.ts'

/** What middleware leaves for the handlers of a request. */
export interface AppEnv {
  Bindings: Partial<HttpBindings>
  Variables: {
    /** Of whoever called, forwarded by proxies of ours or not. */
    address: string
    /** The address, or the /64 it belongs to. */
    network: string
    /** Set by `auth('api')`. */
    user: AuthenticatedUser<User>
    /** Set by `freshToken()`. */
    csrfToken: string | null
    /** On every page. */
    page: PageContext
  }
}
