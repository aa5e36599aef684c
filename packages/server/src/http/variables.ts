import type { HttpBindings } from '@hono/node-server'
import type { AuthenticatedUser } from '@tollgate/oauth'
import type { ServiceContext } from '../context.ts'
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

/** What every page knows. Pages add their own beside it as properties. */
export interface PageContext {
  readonly service: ServiceContext
  /** Who is signed in; null for nobody. */
  readonly user: User | null
  /** For `<meta name="csrf-token">` and the hidden field of forms; null when nobody is signed in. */
  readonly csrfToken: string | null
  readonly path: string
}
