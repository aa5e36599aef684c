/**
 * The contract of a feature: what the server does beside OAuth 2.0, switched on by being listed in the
 * options. What is not listed has no route, no metadata and no cost.
 */
import type { HttpRequest, HttpResponse } from '@tollgate/http'
import type { Awaitable } from '../awaitable.ts'
import type { SigningAlgorithm } from '../crypto.ts'
import type {
  AuthorizationResponse,
  ExchangeRequest,
  FeatureRoute,
  GrantContext,
  TokenResponse,
} from '../grants/grant.ts'
import type { KeyProof } from '../guard/key-proof.ts'
import type { Form } from '../http/form.ts'
import type { ResourceOptions } from '../resources/resources.ts'
import type { ScopeDefinitions } from '../scopes.ts'
import type { ClientAuthMethod, ClientDemand } from '../storage/client-settings.ts'
import type { GrantDetails } from '../storage/details.ts'
import type { Client, SessionSelector, Token } from '../storage/records.ts'
import type { SignedInPerson } from '../users/users.ts'

/** Where a page on another origin calls: a route of ours, or one of the application behind a guard. */
export type CalledPlace = 'endpoint' | 'guarded'

/** Which pages on other origins may call. */
export interface CrossOriginPolicy {
  /** Whether pages of this origin may. */
  allows(origin: string, place: CalledPlace, context: GrantContext): Awaitable<boolean>
  /** Headers that they may send. */
  readonly requestHeaders: readonly string[]
  /** Headers of responses that they may read. */
  readonly responseHeaders: readonly string[]
}

/** An authorization request whose client, response type and scopes are known to be right. */
export interface RequestedAuthorization {
  /** Who asks. */
  readonly client: Client
  /** What the client gets. */
  readonly responseType: string
  /** What is asked for. */
  readonly scopes: readonly string[]
  /** The names of the features that its parameters came by; none where they stood in the URL. */
  readonly expandedBy: readonly string[]
  /** The APIs that it is for, by their addresses; null for the server's own. */
  readonly resources?: readonly string[] | null
  /** It came from the client itself, through no browser (RFC 8628): there was nothing to push or to sign. */
  readonly direct?: boolean
}

/** What an authorization request says that came another way than by its parameters. */
export interface ExpandedRequest {
  /** Its parameters, in place of those that were sent. */
  readonly params: Form
  /** Names of other features that they came by before. */
  readonly expandedBy?: readonly string[]
  /** The hash of a ticket that ends with the answer: there is one answer at most. */
  readonly ticket?: string
  /**
   * Called before a person is shown something: from now on they may take their time, or load the page again.
   * What it gives is added to the address that they come back to after signing in.
   */
  keep?(): Promise<Readonly<Record<string, string>>>
}

/** A token that a client is about to get. */
export interface IssuedToken {
  /** Its row. */
  readonly token: Token
  /** What it may do: a refresh may have asked for less than the row has. */
  readonly scopes: readonly string[]
  /** The text. */
  readonly accessToken: string
}

/** Ways in which clients prove themselves, beside their secret. */
export interface ClientAuthentication {
  /** By the names of `token_endpoint_auth_method`. */
  readonly methods: readonly ClientAuthMethod[]
  /** What the proofs may be signed with. */
  readonly algorithms?: readonly string[]
  /**
   * Whether clients may prove themselves by these methods alone: neither by a secret that they send, nor by their name.
   * One feature at most says so. Default false.
   */
  readonly exclusive?: boolean
  /** Who the client is, by which of the methods; null when the request has no proof of this kind. Throw InvalidClient for a wrong one. */
  authenticate?(params: Form, context: GrantContext): Promise<AuthenticatedBy> | null
}

/** A client that has proven itself. */
export interface AuthenticatedBy {
  /** Who. */
  readonly client: Client
  /** How. */
  readonly method: ClientAuthMethod
}

/** The key that a request at an endpoint of the server has proven to hold. */
export interface ProvenKey {
  /** Its thumbprint (RFC 7638). Tokens that come of the request are bound to it. */
  readonly thumbprint: string
  /** Goes with the answer. */
  readonly headers: Readonly<Record<string, string>>
}

/** Tokens that only the holder of a key may use. One feature at most has it. */
export interface KeyProofs {
  /** What proofs may be signed with; told in challenges. */
  readonly algorithms: readonly string[]
  /**
   * Whether refresh tokens rotate that a key protects: that of the token, or that by which a client proves itself. Default
   * true.
   */
  readonly rotatesRefreshTokens?: boolean
  /** Where the guarded APIs are, beside the addresses that the server knows of itself. */
  readonly apiUrls: readonly string[]
  /** What a request to an endpoint of ours proves; null where nothing has to be and nothing is. */
  prove(request: HttpRequest, client: Client, context: GrantContext): Promise<ProvenKey | null>
  /** Whether whoever presents a bound token holds its key: an OAuthError otherwise. */
  check(proof: KeyProof, context: GrantContext): Promise<void>
}

/** The limits of clients that have registered themselves. */
export interface SelfRegisteredOptions {
  /** The scopes that they may ask people for. Default: none. */
  readonly scopes?: readonly string[]
  /**
   * The APIs that they get tokens for, by their addresses in `resources`. Those that name none get a token for the only
   * one here. Default: all, and the server itself.
   */
  readonly resources?: readonly string[]
}

/** Answers a token exchange of a confidential client that was given the grant. */
export interface TokenIssuer {
  /** Issues the requested token. Throw an OAuthError for what the client did wrong. */
  issue(request: ExchangeRequest, context: GrantContext): Promise<TokenResponse>
}

/** Something the server does beside OAuth 2.0. */
export interface Feature {
  /** What it is called; no two may be called the same. */
  readonly name: string
  /** Features that come with it, except those that the application lists itself. */
  readonly includes?: readonly Feature[]
  /** APIs that it brings, beside those of the application. */
  readonly resources?: Readonly<Record<string, ResourceOptions>>
  /** What clients that register themselves may have by it; scopes that are not defined are left out. */
  readonly selfRegistered?: SelfRegisteredOptions
  /** Scopes that it brings. They are about the person, not about the API: no wildcard holds them. */
  readonly scopes?: ScopeDefinitions
  /** Those of them that cannot be `optionalScopes`: without them the rest means something else. */
  readonly requiredScopes?: readonly string[]
  /** What it signs with. */
  readonly algorithms?: readonly SigningAlgorithm[]
  /** Below the base path of the server. */
  readonly routes?: readonly FeatureRoute[]
  /** Response types beside those of the grants, each with the grant that a client needs for it. */
  readonly responses?: readonly {
    readonly grantType: string
    readonly response: AuthorizationResponse
  }[]
  /** Where else the metadata of the server is found. */
  metadataPaths?(issuer: URL): readonly string[]
  /** What it adds to the metadata of the server. */
  metadata?(context: GrantContext): Readonly<Record<string, unknown>>
  /**
   * What an authorization request says that only points to its parameters or wraps them; null when it is
   * not of this feature's kind. Errors become a page: it is not proven yet where the answer may go.
   */
  expandRequest?(params: Form, context: GrantContext): Promise<ExpandedRequest> | null
  /**
   * Whether an authorization request has to name its `redirect_uri`, though the client has registered only one. The
   * error becomes a page.
   */
  needsRedirectUri?(params: Form): boolean
  /** Names of parameters that it reads of authorization requests. Of a pushed request only known parameters are stored. */
  readonly requestParameters?: readonly string[]
  /** What it reads of an authorization request, to be kept with what comes of it; null for nothing. Throw an OAuthError for what is wrong. */
  readRequest?(
    params: Form,
    request: RequestedAuthorization,
    context: GrantContext,
  ): GrantDetails | null
  /** Whether the person who is signed in, and as they are, is whom the request means; else they are asked to sign in. */
  acceptsPerson?(
    params: Form,
    client: Client,
    person: SignedInPerson,
    context: GrantContext,
  ): boolean
  /** The name by which a client knows a person, where it must not learn the id; null where it may. */
  subjectFor?(client: Client, userId: string): string | null
  /** How clients may prove themselves, beside their secret. */
  readonly authentication?: ClientAuthentication
  /**
   * A client that its `client_id` says all about, such as an address; null when it is not of this feature's kind. The
   * promise is of null when there is no such client.
   */
  findClient?(clientId: string, context: GrantContext): Promise<Client | null> | null
  /** Where this server has a picture of the client; null for none. */
  logoPath?(client: Client, context: GrantContext): string | null
  /**
   * Whether the sign-in is as good as the request wishes; else the person is asked, once, to sign in again. It
   * is a wish: who comes back as before is let through, and told of as such.
   */
  acceptsSignIn?(details: GrantDetails | null, person: SignedInPerson): boolean
  /** What it adds to the response of the token endpoint. Only asked about tokens that have details. */
  extendTokenResponse?(
    issued: IssuedToken,
    context: GrantContext,
  ): Promise<Readonly<Record<string, unknown>>>
  /** Tokens that `tokenExchange()` gives beside access tokens, by their `requested_token_type` (RFC 8693 §3). */
  readonly exchanges?: Readonly<Record<string, TokenIssuer>>
  /** Sessions of the application have ended: by signing out, with an account, or with everything. */
  endSessions?(selector: SessionSelector, context: GrantContext): Promise<void>
  /** Sends what is due to be sent to others; says how many were. Called every few seconds. */
  deliver?(context: GrantContext): Promise<number>
  /** Which pages on other origins may call. One feature at most says so. */
  readonly crossOrigin?: CrossOriginPolicy
  /** Called once, when the server is made; what it gives is called when the server closes. */
  start?(context: GrantContext): () => void
  /** Tokens that only the holder of a key may use. */
  readonly keyProofs?: KeyProofs
  /** The answer to an introspection, where it is another than the usual JSON; null for that. */
  introspection?(
    description: Readonly<Record<string, unknown>>,
    asked: { readonly request: HttpRequest; readonly client: Client },
    context: GrantContext,
  ): Promise<HttpResponse> | null
  /** Settings of clients that it enforces. One that no feature enforces shuts the client out. */
  readonly meets?: readonly ClientDemand[]
  /** Access tokens say how the person had signed in, so guards can demand something of it. */
  readonly tellsSignIn?: boolean
}
