/**
 * The contract of a grant, built in or custom. What a grant receives may grow: new members do not
 * break existing grants (docs/guides/write-a-grant.md).
 */
import type { HttpRequest, HttpResponse, Route } from '@tollgate/http'
import type { Clock } from '../clock.ts'
import type { Emitter } from '../events.ts'
import type { VerifiedToken } from '../guard/verify.ts'
import type { Form } from '../http/form.ts'
import type { Logger } from '../logger.ts'
import type { ScopeDefinitions } from '../scopes.ts'
import type { GrantDetails } from '../storage/details.ts'
import type { AuthorizationCode, Client, Token, TokenSelector } from '../storage/records.ts'
import type { Storage } from '../storage/repositories.ts'
import type { Users } from '../users/users.ts'

/** The value of `grant_type`: a built-in one, or the URI of an extension grant (RFC 6749 §4.5). */
export type GrantType =
  | 'authorization_code'
  | 'refresh_token'
  | 'password'
  | 'client_credentials'
  | 'implicit'
  | 'urn:ietf:params:oauth:grant-type:device_code'
  | 'urn:ietf:params:oauth:grant-type:token-exchange'
  | 'urn:ietf:params:oauth:grant-type:jwt-bearer'
  | (string & {})

/**
 * Response of the token endpoint (RFC 6749 §5.1). A grant may add members, such as `id_token` or
 * `issued_token_type`.
 */
export interface TokenResponse {
  /** How the token is presented: `Bearer` or `DPoP`. */
  readonly token_type: string
  /** Seconds until the access token expires. */
  readonly expires_in: number
  /** The access token, with which the client calls the API. */
  readonly access_token: string
  /** The token to get the next access token with. Absent if the grant issues none. */
  readonly refresh_token?: string
  /**
   * The granted scopes, separated by spaces, without those that are currently withheld by limits
   * (`oauth.limitScopes()`).
   */
  readonly scope: string
  readonly [extension: string]: unknown
}

/** Describes the token to issue. */
export interface TokenIssueRequest {
  /** The client that receives the token. */
  readonly client: Client
  /** The user that the token is for. `null` if the client acts for itself. */
  readonly userId: string | null
  /** The scopes of the token. */
  readonly scopes: readonly string[]
  /** The grant type that issues the token. Stored with it. */
  readonly grantType: GrantType
  /**
   * Whether to issue a refresh token, provided that the server and the client have the refresh
   * token grant.
   */
  readonly refreshable: boolean
  /**
   * When the access token expires. This has no effect if the lifetime set by `accessTokensExpireIn`
   * ends earlier.
   */
  readonly expiresAt?: Date
  /**
   * Pass `TokenEndpointRequest.signOutMark` if the grant itself found out who the user is. If that user
   * was signed out everywhere since then, nothing is issued and InvalidGrant is thrown.
   */
  readonly signOutMark?: number
  /** Further contents of the token, such as APIs and claims. `null` if there are none. */
  readonly details?: GrantDetails | null
}

/** A request to the token endpoint from an authenticated client that may use the grant. */
export interface TokenEndpointRequest {
  /** The client that sent the request. */
  readonly client: Client
  /**
   * The form parameters. Requests with a repeated parameter were already rejected, and empty
   * parameters are left out.
   */
  readonly params: Form
  /** The rest of the request: headers, method and path. Its body has been read. */
  readonly request: HttpRequest
  /**
   * Marks the time before the grant looks up the user. Pass it on as
   * `TokenIssueRequest.signOutMark`, so that no token is issued if the user is signed out
   * everywhere before the token is stored.
   */
  readonly signOutMark: number
}

/** Services of the server for grants and features. */
export interface GrantContext {
  /** Public base URL of the server. */
  readonly issuer: string
  /** Source of the current time. Use no other, because tests move it. */
  readonly clock: Clock
  /** Receives internal errors, which are never shown to callers. */
  readonly logger: Required<Logger>
  /**
   * The application's users. With several user providers only `findById()` is available; it takes
   * `provider/id` and returns the record with the id that the provider knows.
   */
  readonly users: Users
  /** Description of each scope by name. */
  readonly scopes: ScopeDefinitions
  /** The storage of the server. */
  readonly storage: Storage
  /** Emits events of the server and adds listeners for them. */
  readonly events: Emitter
  /**
   * Parses a `scope` parameter. Does not add the scopes of the option `defaultScopes`.
   * @throws InvalidScope if the client cannot have one of the scopes
   */
  resolveScopes(text: string | undefined, client: Client): string[]
  /** Stores a token, emits its events and returns the response for the client. */
  issueTokens(request: TokenIssueRequest): Promise<TokenResponse>
  /**
   * Verifies an access token of this server and returns its contents.
   * @throws InvalidToken unless the token is genuine, unexpired and not revoked
   */
  verifyAccessToken(text: string): Promise<VerifiedToken>
  /**
   * Revokes tokens: immediately in this process, within a second in all others. Returns the revoked
   * tokens.
   */
  revokeTokens(selector: TokenSelector): Promise<Token[]>
  /** Asks the application whether the user still exists, bypassing the cache. */
  userExists(userId: string): Promise<boolean>
}

/**
 * An authorization request that the user has approved: on the approval screen, or by a remembered
 * consent.
 */
export interface ApprovedRequest {
  /** The client that sent the request. */
  readonly client: Client
  /** The user who approved it. */
  readonly userId: string
  /** The `redirect_uri` of the request. `null` if it had none. */
  readonly redirectUri: string | null
  /** The approved scopes. */
  readonly scopes: readonly string[]
  /** The PKCE challenge. `null` if none was sent. */
  readonly codeChallenge: string | null
  /** Further contents of the request, such as APIs and claims. `null` for plain OAuth 2.0. */
  readonly details: GrantDetails | null
}

/**
 * The rows that an approval stores, and the response parameters that the client receives
 * afterwards.
 */
export interface AuthorizationResult {
  /** The authorization code to store with the approval. */
  readonly code?: AuthorizationCode
  /** The token to store with the approval. */
  readonly token?: Token
  /** Parameters added to the redirect URI. */
  readonly params: Readonly<Record<string, string>>
}

/** A response type of the authorization endpoint, and how a grant creates the response. */
export interface AuthorizationResponse {
  /** The value of `response_type`. */
  readonly type: string
  /**
   * Default response mode, unless the request names another: RFC 6749 uses the query in §4.1.2, the
   * fragment in §4.2.2.
   */
  readonly mode: 'query' | 'fragment'
  /** Creates the rows to store and the response for the client. Must not store anything itself. */
  prepare(
    request: ApprovedRequest,
    context: GrantContext,
  ): AuthorizationResult | Promise<AuthorizationResult>
}

/**
 * Web origins whose pages may call a route (CORS). `clients`: the origins of registered clients.
 * `anyone`: every origin, for public responses that are the same for all callers.
 */
export type AllowedOrigins = 'clients' | 'anyone'

/** A route that a grant or a feature adds to the server. */
export interface FeatureRoute extends Route {
  /** Whether people open the route in a browser. Errors are then shown as a page. */
  readonly isPage?: boolean
  /**
   * Pages on other origins that may call the route, if a feature such as `cors()` allows any.
   * @default none
   */
  readonly openTo?: AllowedOrigins
  /**
   * Whether the route responds 503 while the clock of this process is not trusted. Set it to
   * `false` for routes that only read or revoke.
   * @default true for POST and PUT, otherwise false
   */
  readonly needsClock?: boolean
  /** Handles a request. `id` is the variable segment of the path. */
  endpoint(request: HttpRequest, context: GrantContext, id: string): Promise<HttpResponse>
}

/**
 * A grant type, enabled by listing it in the option `grants`. It serves the existing endpoints, or
 * adds routes.
 * @see docs/guides/write-a-grant.md
 */
export interface Grant {
  /** The value of `grant_type` that this grant handles. */
  readonly type: GrantType
  /** Handles a request to the token endpoint. Throw an OAuthError for mistakes of the client. */
  exchange?(
    request: TokenEndpointRequest,
    context: GrantContext,
  ): TokenResponse | Promise<TokenResponse>
  /**
   * How the grant responds at the authorization endpoint. Absent if the grant is not used there.
   */
  readonly response?: AuthorizationResponse
  /** Additional routes, relative to the base path of the server. */
  readonly routes?: readonly FeatureRoute[]
  /**
   * Called once when the server is created. Throw a TypeError if the options do not fit the server.
   */
  start?(context: GrantContext): void
  /**
   * Returns additional members for the server's metadata. The grant type itself is listed
   * automatically.
   */
  metadata?(context: GrantContext): Readonly<Record<string, unknown>>
}
