import type { UserClaims } from './claims.ts'

/** A user record of the application. Tollgate requires only the id. */
export interface ApplicationUser {
  /** Id of the user, which becomes the subject of tokens. */
  readonly id: string | number
}

/** A signed-in user, as reported by the application. */
export interface SignedIn {
  /** Id of the user. */
  readonly id: string | number
  /**
   * Name of the user provider. Required from `signedIn` of an adapter if there are several
   * providers. `fromRequest()` of a provider always returns its own users.
   */
  readonly provider?: string
  /**
   * Id of the application's session. Lets `endSession()` end cookie mode when the user signs out.
   */
  readonly sessionId?: string
  /**
   * When the user last authenticated, by your clock. Requests with `prompt=login` or `max_age` are
   * rejected without it.
   */
  readonly authenticatedAt?: Date
  /** Authentication context class under a name of your choice. Sent to clients in ID tokens. */
  readonly acr?: string
  /** Authentication methods (RFC 8176), such as `['pwd', 'otp']`. Sent to clients in ID tokens. */
  readonly amr?: readonly string[]
}

/** The signed-in user. `null` or `undefined` if there is none. */
export type CurrentUser = SignedIn | null | undefined

/**
 * The part of a response that ends the session in the browser. `null` or `undefined` if the session
 * exists only on the server.
 */
export type SignedOut =
  | {
      /** `Set-Cookie` headers, usually to delete the session cookie. */
      readonly setCookie?: string | readonly string[]
    }
  | null
  | undefined
  // biome-ignore lint/suspicious/noConfusingVoidType: for functions that give nothing back
  | void

/**
 * Functions through which Tollgate reads the application's users. It stores only their ids. Each
 * function may return its result or a promise.
 * @example
 * ```ts
 * const users = {
 *   findById: (id) => db.users.find(id),
 *   fromRequest: async (request) => {
 *     const session = await readSession(request)
 *     return session && { id: session.userId, sessionId: session.id }
 *   },
 * }
 * ```
 */
export interface Users<User extends ApplicationUser = ApplicationUser> {
  /** Finds a user. `null` if the user no longer exists. */
  findById(id: string): User | null | Promise<User | null>
  /**
   * Finds several users, in any order; those that do not exist are left out. The guard checks all
   * users whose tokens are in use once per second: in a single call of this function, or else with
   * one `findById()` each.
   */
  findByIds?(ids: readonly string[]): readonly User[] | Promise<readonly User[]>
  /**
   * Finds a user by name and password. `null` for an unknown user and for a wrong password.
   * Required for the password grant.
   */
  findByCredentials?(username: string, password: string): User | null | Promise<User | null>
  /**
   * Returns the claims about a user that the granted scopes cover. Required for `openid()`. May
   * return more: standard claims are sent only with their scope or if the request names them.
   */
  claims?(user: User, scopes: readonly string[]): UserClaims | Promise<UserClaims>
  /**
   * Returns the user who is signed in on this request. An adapter's `signedIn` replaces it, see
   * AdapterOptions.
   */
  fromRequest?(request: Request): CurrentUser | Promise<CurrentUser>
  /**
   * Ends the session of this request when the user signs out through a client (`openid({ logout:
   * true })`). An adapter's `signOut` replaces it, see AdapterOptions.
   */
  signOut?(request: Request): SignedOut | Promise<SignedOut>
}
