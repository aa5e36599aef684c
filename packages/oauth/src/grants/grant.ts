/**
 * The contract of a grant, ours or anybody's. What a grant is given may grow: new members do not break
 * the grants there are (docs/guides/write-a-grant.md).
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

/** The value of `grant_type`: one of ours, or a URI of somebody else's (RFC 6749 §4.5). */
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

/** RFC 6749 §5.1. A grant may add members of its own, such as `id_token` or `issued_token_type`. */
export interface TokenResponse {
  /** How the token is presented. */
  readonly token_type: string
  /** Seconds until the access token expires. */
  readonly expires_in: number
  /** What opens the API. */
  readonly access_token: string
  /** What gets the next access token; absent where the grant gives none. */
  readonly refresh_token?: string
  /** What was granted, separated by blanks. */
  readonly scope: string
  readonly [extension: string]: unknown
}

/** What is to be issued, for whom. */
export interface IssueRequest {
  /** Who gets it. */
  readonly client: Client
  /** Null when the client acts for itself. */
  readonly userId: string | null
  /** What it may do. */
  readonly scopes: readonly string[]
  /** Stored with the token. */
  readonly grantType: GrantType
  /** Whether this grant gives refresh tokens, where the server and the client have them at all. */
  readonly refreshable: boolean
  /** When the access token expires, if that is before the server's `accessTokensExpireIn` is over. */
  readonly expiresAt?: Date
  /**
   * `ExchangeRequest.signOutMark`: give it when the grant has found out itself who the user is. If that
   * person was signed out everywhere meanwhile, nothing is issued and InvalidGrant is thrown.
   */
  readonly signOutMark?: number
  /** What the token carries beyond scopes. */
  readonly details?: GrantDetails | null
}

/** A request at the token endpoint, from a client that has authenticated and may use the grant. */
export interface ExchangeRequest {
  /** Who asks. */
  readonly client: Client
  /** The body; a parameter sent twice was refused, an empty one counts as absent. */
  readonly params: Form
  /** The rest of the request: headers, method, path. Its body has been read. */
  readonly request: HttpRequest
  /** From before the grant looks who the user is: see `IssueRequest.signOutMark`. */
  readonly signOutMark: number
}

/** What the server lets a grant do. */
export interface GrantContext {
  /** Public base URL of the server. */
  readonly issuer: string
  /** Where "now" comes from: tests move it, so take no other. */
  readonly clock: Clock
  /** For failures that no caller is told of. */
  readonly logger: Required<Logger>
  /** The application's own users. */
  readonly users: Users
  /** The scopes of this server with their descriptions. */
  readonly scopes: ScopeDefinitions
  /** Where everything is kept. */
  readonly storage: Storage
  /** Raises and hears the events of the server. */
  readonly events: Emitter
  /** The scopes in a `scope` parameter, or InvalidScope when the client cannot have one of them. */
  resolveScopes(text: string | undefined, client: Client): string[]
  /** Stores a token, tells the listeners, and gives what the client gets. */
  issueTokens(request: IssueRequest): Promise<TokenResponse>
  /** What one of our access tokens says, or InvalidToken unless it is genuine, alive and not revoked. */
  verifyAccessToken(text: string): Promise<VerifiedToken>
  /** Ends tokens here at once and on every other process within a second. */
  revokeTokens(selector: TokenSelector): Promise<Token[]>
  /** Whether the application still has this user, asked now. */
  userExists(userId: string): Promise<boolean>
}

/** What a person has approved, or had approved before. */
export interface ApprovedRequest {
  /** Who asked. */
  readonly client: Client
  /** Who approved. */
  readonly userId: string
  /** What the request said, null when it named none. */
  readonly redirectUri: string | null
  /** What was approved. */
  readonly scopes: readonly string[]
  /** Of PKCE, null when none was sent. */
  readonly codeChallenge: string | null
  /** What the request said beyond scopes; null for plain OAuth 2.0. */
  readonly details: GrantDetails | null
}

/** What an approval stores, and what it tells the client once that is stored. */
export interface AuthorizationResult {
  /** To be stored with the approval. */
  readonly code?: AuthorizationCode
  /** To be stored with the approval. */
  readonly token?: Token
  /** What is added to the redirect URI. */
  readonly params: Readonly<Record<string, string>>
}

/** What a grant does at the authorization endpoint. */
export interface AuthorizationResponse {
  /** The value of `response_type`. */
  readonly type: string
  /** Unless the request says otherwise: RFC 6749 §4.1.2 answers in the query, §4.2.2 in the fragment. */
  readonly mode: 'query' | 'fragment'
  /** Makes what is stored, and what the client gets once it is stored. It stores nothing itself. */
  prepare(
    request: ApprovedRequest,
    context: GrantContext,
  ): AuthorizationResult | Promise<AuthorizationResult>
}

/** `clients`: pages of registered clients. `anyone`: it is public, and the same for all. */
export type OpenTo = 'clients' | 'anyone'

/** A URL that a grant or a feature brings. */
export interface FeatureRoute extends Route {
  /** People come here with their browser: what goes wrong is told on a page. */
  readonly isPage?: boolean
  /** Which pages on other origins may call it, once a feature says which origins there are. Default: none. */
  readonly openTo?: OpenTo
  /**
   * Whether the route answers 503 while the time of this process is not trusted. Default: true for POST and PUT. False
   * for a route that only reads or ends something.
   */
  readonly needsClock?: boolean
  /** Answers a request to it; `id` is the varying segment of its path. */
  endpoint(request: HttpRequest, context: GrantContext, id: string): Promise<HttpResponse>
}

/** A grant is switched on by being listed in the options. It does something at the endpoints there are, or at its own. */
export interface Grant {
  /** The `grant_type` it answers to. */
  readonly type: GrantType
  /** At the token endpoint. Throw an OAuthError for what the client did wrong. */
  exchange?(request: ExchangeRequest, context: GrantContext): TokenResponse | Promise<TokenResponse>
  /** At the authorization endpoint. */
  readonly response?: AuthorizationResponse
  /** Below the base path of the server. */
  readonly routes?: readonly FeatureRoute[]
  /** Called once, when the server is made. Throw a TypeError for options that do not fit the server. */
  start?(context: GrantContext): void
  /** What it adds to the metadata of the server, beside its name. */
  metadata?(context: GrantContext): Readonly<Record<string, unknown>>
}
