import type { HttpBindings } from '@hono/node-server'
import type { AuthenticatedUser } from '@tollgate/oauth'
import type { ServiceContext } from '../context.ts'
import type { PageText } from '../messages/messages.ts'
import type { SignedInSession } from '../sessions/sessions.ts'
import type { TeamMembership } from '../teams/team.ts'
import type { User } from '../users/user.ts'

/** Variables that middleware sets for the handlers of a request. */
export interface AppEnv {
  Bindings: Partial<HttpBindings>
  Variables: {
    /** The caller's address, as reported by trusted proxies. */
    address: string
    /** The address, or its /64 network if it is IPv6. */
    network: string
    /** The id of the request in its log lines, its response and the audit log. */
    requestId: string
    /** Whether a trusted proxy passed on the request. */
    isFromProxy: boolean
    /** The path without ids, for metrics and traces. Set when the request has been handled. */
    route: string
    /** The token's user. Set by `auth('api')`. */
    user: AuthenticatedUser<User>
    /** The CSRF token of the session. Set by `freshToken()`. */
    csrfToken: string | null
    /** The context of a page. Set by `providePageContext()`. */
    page: PageContext
  }
}

/** The owner whose subscription the billing pages manage, and the base path of these pages. */
export interface Payer {
  /** Path of the billing page: `/billing`, or that of a team. */
  readonly path: string
  /** The team, and the role of the signed-in person in it. `null` on the person's own pages. */
  readonly membership: TeamMembership | null
}

/** The payer of the billing pages of the signed-in person. */
export const OWN_PAYER: Payer = { path: '/billing', membership: null }

/** Context of a page: its user, CSRF token and language. */
export interface PageContext {
  readonly service: ServiceContext
  /** The signed-in user. `null` if signed out. */
  readonly user: User | null
  /** When the person signed in. `null` if signed out. */
  readonly signedInAt: Date | null
  /** The session of the person. `null` if signed out. */
  readonly session: SignedInSession | null
  /**
   * CSRF token for `<meta name="csrf-token">` and the hidden field of forms. `null` if signed out.
   */
  readonly csrfToken: string | null
  readonly path: string
  readonly payer: Payer
  /** Function that returns the texts in the language of the page. */
  readonly t: PageText
  /**
   * Query string `?ui_locales=…`, which forms and links add to keep the language. Empty unless the
   * URL of the page chose the language.
   */
  readonly languageQuery: string
}
