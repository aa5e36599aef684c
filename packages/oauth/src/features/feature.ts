/**
 * The contract of a feature: an extension beyond OAuth 2.0, enabled by listing it in the option
 * `features`. A feature that is not listed has no route, no metadata and no cost.
 */
import type { HttpRequest, HttpResponse } from '@tollgate/http'
import type { Awaitable } from '../awaitable.ts'
import type { SigningAlgorithm } from '../crypto.ts'
import type {
  AuthorizationResponse,
  FeatureRoute,
  GrantContext,
  TokenEndpointRequest,
  TokenResponse,
} from '../grants/grant.ts'
import type { KeyProof } from '../guard/key-proof.ts'
import type { Form } from '../http/form.ts'
import type { ResourceOptions } from '../resources/resources.ts'
import type { ScopeDefinitions } from '../scopes.ts'
import type { ClientAuthMethod, ClientRequirement } from '../storage/client-settings.ts'
import type { GrantDetails } from '../storage/details.ts'
import type { Client, SessionSelector, Token } from '../storage/records.ts'
import type { SignedInPerson } from '../users/signed-in.ts'

/**
 * The target of a cross-origin call: a route of this server, or a guarded route of the application.
 */
export type CrossOriginTarget = 'endpoint' | 'guarded'

/** Decides which pages on other origins may call the server and its guarded routes. */
export interface CrossOriginPolicy {
  /**
   * Whether pages of this origin may call the server (`endpoint`) or the guarded routes
   * (`guarded`).
   */
  allows(origin: string, place: CrossOriginTarget, context: GrantContext): Awaitable<boolean>
  /** Request headers that pages on allowed origins may send. */
  readonly requestHeaders: readonly string[]
  /** Response headers that pages on allowed origins may read. */
  readonly responseHeaders: readonly string[]
}

/** An authorization request whose client, response type and scopes have been validated. */
export interface RequestedAuthorization {
  /** The client that sent the request. */
  readonly client: Client
  /** The requested `response_type`. */
  readonly responseType: string
  /** The requested scopes. */
  readonly scopes: readonly string[]
  /** Names of the features that supplied the parameters. Empty if they were in the URL. */
  readonly expandedBy: readonly string[]
  /** URLs of the requested APIs. `null` for the server's own. */
  readonly resources?: readonly string[] | null
  /**
   * Whether the client sent the request directly rather than through a browser, as devices do (RFC
   * 8628). The request can then neither be pushed nor signed.
   */
  readonly direct?: boolean
}

/**
 * The parameters of an authorization request that were not in its URL, such as those of a pushed
 * request.
 */
export interface ExpandedRequest {
  /** The parameters of the request. They replace those in the URL. */
  readonly params: Form
  /**
   * Names of the features that supplied these parameters when the request was stored, such as
   * request objects in a pushed request.
   */
  readonly expandedBy?: readonly string[]
  /**
   * Hash of a single-use ticket that the response consumes, so that there is at most one response.
   */
  readonly ticket?: string
  /**
   * Extends the validity of the request. Called before a page is shown, because the person may take
   * some time or reload the page. The returned parameters are added to the URL that the person
   * returns to after signing in.
   */
  keep?(): Promise<Readonly<Record<string, string>>>
}

/** A token that is about to be sent to a client. */
export interface IssuedToken {
  /** The token's row. */
  readonly token: Token
  /** The scopes of this access token. Fewer than `token.scopes` if a refresh requested fewer. */
  readonly scopes: readonly string[]
  /** The text of the access token. */
  readonly accessToken: string
}

/** Additional methods of client authentication. */
export interface ClientAuthentication {
  /** Names of the methods, as in `token_endpoint_auth_method`. */
  readonly methods: readonly ClientAuthMethod[]
  /** Signature algorithms of the methods. */
  readonly algorithms?: readonly string[]
  /**
   * Whether clients may use only these methods: neither secrets nor public clients. At most one
   * feature may set this.
   * @default false
   */
  readonly exclusive?: boolean
  /**
   * Authenticates the client of a request. Returns `null` if the request does not use these
   * methods. Throw InvalidClient for invalid credentials.
   */
  authenticate?(params: Form, context: GrantContext): Promise<ClientAuthenticationResult> | null
}

/** An authenticated client, and the method by which it authenticated. */
export interface ClientAuthenticationResult {
  /** The authenticated client. */
  readonly client: Client
  /** The authentication method that the client used. */
  readonly method: ClientAuthMethod
}

/** A key whose possession a request to this server has proven. */
export interface ProvenKey {
  /** Thumbprint of the key (RFC 7638). Tokens issued by the request are bound to it. */
  readonly thumbprint: string
  /** Headers to add to the response, such as a new DPoP nonce. */
  readonly headers: Readonly<Record<string, string>>
}

/** Support for tokens that are bound to a key. At most one feature may provide it. */
export interface KeyProofSupport {
  /** Signature algorithms for proofs, listed in challenges. */
  readonly algorithms: readonly string[]
  /**
   * Whether refresh tokens rotate although they are bound to a key: to the key of the token, or to
   * the key with which the client authenticates.
   * @default true
   */
  readonly rotatesRefreshTokens?: boolean
  /**
   * Base URLs at which clients reach the guarded APIs, in addition to the origins of the server and
   * of the `resources`.
   */
  readonly apiUrls: readonly string[]
  /**
   * Checks the proof of a request to an endpoint of this server. `null` if none is required and
   * none was sent.
   */
  prove(request: HttpRequest, client: Client, context: GrantContext): Promise<ProvenKey | null>
  /**
   * Checks that the caller who presents a token bound to a key holds that key.
   * @throws OAuthError if the proof is missing or invalid
   */
  check(proof: KeyProof, context: GrantContext): Promise<void>
}

/** Limits for clients that registered themselves. */
export interface SelfRegisteredOptions {
  /**
   * Scopes that these clients may request.
   * @default []
   */
  readonly scopes?: readonly string[]
  /**
   * URLs of the APIs in `resources` that these clients can get tokens for. If there is only one,
   * requests that name no API get a token for it. By default, all APIs and the server itself.
   */
  readonly resources?: readonly string[]
}

/**
 * Issues one kind of token by token exchange (RFC 8693), for confidential clients that may use that
 * grant.
 */
export interface TokenIssuer {
  /** Issues the requested token. Throw an OAuthError for mistakes of the client. */
  issue(request: TokenEndpointRequest, context: GrantContext): Promise<TokenResponse>
}

/** An extension beyond OAuth 2.0, enabled by listing it in the option `features`. */
export interface Feature {
  /** Unique name of the feature. */
  readonly name: string
  /** Features that this one includes, unless the application lists them itself. */
  readonly includes?: readonly Feature[]
  /** APIs that the feature adds to those of the application. */
  readonly resources?: Readonly<Record<string, ResourceOptions>>
  /**
   * Scopes and APIs that the feature opens to clients that registered themselves. Undefined scopes
   * are ignored.
   */
  readonly selfRegistered?: SelfRegisteredOptions
  /**
   * Scopes that the feature adds, with their descriptions. They grant access to data about the
   * person rather than to an API, so the wildcard `*` does not include them.
   */
  readonly scopes?: ScopeDefinitions
  /**
   * Scopes that people cannot decline, because the other scopes mean something different without
   * them. They must not be listed in the option `optionalScopes`.
   */
  readonly requiredScopes?: readonly string[]
  /** Algorithms that the feature signs with. */
  readonly algorithms?: readonly SigningAlgorithm[]
  /** Additional routes, relative to the base path of the server. */
  readonly routes?: readonly FeatureRoute[]
  /** Additional response types, each with the grant type that a client must hold. */
  readonly responses?: readonly {
    readonly grantType: string
    readonly response: AuthorizationResponse
  }[]
  /** Returns additional paths of the server's metadata. */
  metadataPaths?(issuer: URL): readonly string[]
  /** Returns additional members for the server's metadata. */
  metadata?(context: GrantContext): Readonly<Record<string, unknown>>
  /**
   * Reads the parameters of an authorization request that only refers to them or wraps them. `null`
   * if the request is not of this kind. Errors are shown as a page, because the redirect URI is not
   * proven yet.
   */
  expandRequest?(params: Form, context: GrantContext): Promise<ExpandedRequest> | null
  /**
   * Whether an authorization request must name its `redirect_uri` even if the client has registered
   * only one. The error is shown as a page.
   */
  needsRedirectUri?(params: Form): boolean
  /**
   * Names of the authorization request parameters that the feature reads. Pushed requests are
   * stored with known parameters only.
   */
  readonly requestParameters?: readonly string[]
  /**
   * Reads additional details of an authorization request, to be stored with its code and tokens.
   * `null` for none. Throw an OAuthError for mistakes of the client.
   */
  readRequest?(
    params: Form,
    request: RequestedAuthorization,
    context: GrantContext,
  ): GrantDetails | null
  /**
   * Whether the signed-in person, with their current sign-in, is the person that the authorization
   * request asks for. If not, the person is asked to sign in.
   */
  acceptsPerson?(
    params: Form,
    client: Client,
    person: SignedInPerson,
    context: GrantContext,
  ): boolean
  /**
   * Returns the pairwise subject under which the client knows the user. `null` if the client may
   * learn the user's id.
   */
  subjectFor?(client: Client, userId: string): string | null
  /** Additional methods of client authentication. */
  readonly authentication?: ClientAuthentication
  /**
   * Finds a client whose `client_id` has a form that this feature handles, such as the URL of a
   * metadata document. Returns `null` if the id has another form, and a promise of `null` if there
   * is no such client.
   */
  findClient?(clientId: string, context: GrantContext): Promise<Client | null> | null
  /** Returns the path of the client's logo on this server. `null` for none. */
  logoPath?(client: Client, context: GrantContext): string | null
  /**
   * Whether the current sign-in is as strong as the authorization request prefers. If not, the
   * person is asked once to sign in again. A person who returns with the same sign-in is accepted;
   * the token states how the person signed in.
   */
  acceptsSignIn?(details: GrantDetails | null, person: SignedInPerson): boolean
  /**
   * Returns additional members for the response of the token endpoint. Called only for tokens with
   * details.
   */
  extendTokenResponse?(
    issued: IssuedToken,
    context: GrantContext,
  ): Promise<Readonly<Record<string, unknown>>>
  /** Issuers of other tokens for `tokenExchange()`, by `requested_token_type` (RFC 8693 §3). */
  readonly exchanges?: Readonly<Record<string, TokenIssuer>>
  /**
   * Called when sessions of the application have ended: one session by signing out, all sessions of
   * a user by `revokeUser()`, or all sessions by `endEverything()`.
   */
  endSessions?(selector: SessionSelector, context: GrantContext): Promise<void>
  /** Sends pending notifications and returns their number. Called every few seconds. */
  deliver?(context: GrantContext): Promise<number>
  /**
   * Decides which pages on other origins may call the server. At most one feature may provide it.
   */
  readonly crossOrigin?: CrossOriginPolicy
  /**
   * Called once when the server is created. The returned function is called when the server closes.
   */
  start?(context: GrantContext): () => void
  /** Support for tokens that are bound to a key. */
  readonly keyProofs?: KeyProofSupport
  /** Creates the response to an introspection request. `null` for the usual JSON response. */
  introspection?(
    description: Readonly<Record<string, unknown>>,
    caller: { readonly request: HttpRequest; readonly client: Client },
    context: GrantContext,
  ): Promise<HttpResponse> | null
  /**
   * Client settings that the feature enforces. Clients with a setting that no feature enforces are
   * rejected.
   */
  readonly enforces?: readonly ClientRequirement[]
  /**
   * Whether access tokens state when and how the person signed in, so that guards can require a
   * recent or stronger sign-in.
   */
  readonly addsSignInClaims?: boolean
}
