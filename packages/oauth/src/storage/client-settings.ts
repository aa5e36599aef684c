/**
 * Optional client metadata: the members of RFC 7591 §2 and OpenID Connect Registration §2 under
 * their standard names, and a few settings of our own. Members that were not set are absent.
 */
export interface ClientSettings {
  /**
   * Authentication method of the client. If absent, a client with a secret may use HTTP Basic or
   * the request body.
   */
  readonly token_endpoint_auth_method?: ClientAuthMethod
  /** The only JWS algorithm accepted for the client's authentication assertions. */
  readonly token_endpoint_auth_signing_alg?: string
  /** The client's public keys as a JSON Web Key Set (RFC 7517 §5). */
  readonly jwks?: { readonly keys: readonly Readonly<Record<string, unknown>>[] }
  /** URL of the client's public keys (a JSON Web Key Set). Excludes `jwks`. */
  readonly jwks_uri?: string
  /**
   * The client secret, encrypted, for `client_secret_jwt`: verifying a signature needs the secret
   * itself, not its hash.
   */
  readonly sealed_secret?: string
  /** The secret that a planned rotation has replaced, which authenticates until it expires. */
  readonly previous_secret?: PreviousSecret
  /** JWS algorithm that signs access tokens for this client. */
  readonly access_token_signed_response_alg?: string
  /** JWS algorithm that signs ID tokens for this client. */
  readonly id_token_signed_response_alg?: string
  /** JWS algorithm that signs UserInfo responses. If set, UserInfo is returned as a JWT. */
  readonly userinfo_signed_response_alg?: string
  /**
   * JWS algorithm that signs introspection responses. If set, they are returned as JWTs (RFC 9701).
   */
  readonly introspection_signed_response_alg?: string
  /** The only JWS algorithm accepted for the client's request objects (RFC 9101). */
  readonly request_object_signing_alg?: string
  /**
   * Whether the server rejects authorization requests of this client without a signed request
   * object (RFC 9101).
   */
  readonly require_signed_request_object?: boolean
  /** URLs from which the client may pass request objects by reference (`request_uri`). */
  readonly request_uris?: readonly string[]
  /**
   * Whether ID tokens also contain the user claims of the granted scopes. For clients that never
   * call UserInfo.
   */
  readonly claims_in_id_token?: boolean
  /**
   * Kind of user id that the client receives. With `pairwise`, each client (or sector) gets a
   * different id, which cannot be linked to the ids that other clients get.
   */
  readonly subject_type?: 'public' | 'pairwise'
  /**
   * URL that identifies a sector (OpenID Connect Core §8.1): clients with the same URL share
   * pairwise subjects.
   */
  readonly sector_identifier_uri?: string
  /** Maximum age of the sign-in in seconds for requests without `max_age`. */
  readonly default_max_age?: number
  /** Whether ID tokens always contain `auth_time`. */
  readonly require_auth_time?: boolean
  /** Preferred authentication context classes for requests without `acr_values`. */
  readonly default_acr_values?: readonly string[]
  /** URLs to which the browser may be redirected after sign-out. */
  readonly post_logout_redirect_uris?: readonly string[]
  /**
   * URL that receives a logout token when the user's session ends (OpenID Connect Back-Channel
   * Logout).
   */
  readonly backchannel_logout_uri?: string
  /** Whether logout tokens must contain the session id (`sid`). */
  readonly backchannel_logout_session_required?: boolean
  /**
   * Additional origins from which the client's pages call the server, such as
   * `http://localhost:5173`. The origins of its https redirect URIs are always allowed.
   */
  readonly allowed_origins?: readonly string[]
  /**
   * Whether the server rejects authorization requests of this client that were not pushed (RFC
   * 9126).
   */
  readonly require_pushed_authorization_requests?: boolean
  /** Whether this client accepts only access tokens bound to its key (DPoP, RFC 9449). */
  readonly dpop_bound_access_tokens?: boolean
  /**
   * Response types the client may use at the authorization endpoint. If absent, all that its grants
   * allow.
   */
  readonly response_types?: readonly string[]
  /** Kind of application: `native` for apps installed on a device. */
  readonly application_type?: 'web' | 'native'
  /** URL of the client's home page. */
  readonly client_uri?: string
  /**
   * URL of the client's logo. Shown only for verified clients, and never loaded from the client's
   * server by the browser.
   */
  readonly logo_uri?: string
  /** URL of the client's privacy policy. */
  readonly policy_uri?: string
  /** URL of the client's terms of service. */
  readonly tos_uri?: string
  /** E-mail addresses of the people responsible for the client. */
  readonly contacts?: readonly string[]
  /**
   * Name of the user provider whose users the client serves. If absent, users of every provider.
   */
  readonly provider?: string
  /** Whether the operator has verified a client that a user registered. See `clients.verify()`. */
  readonly verified?: boolean
  /**
   * How the client registered itself. Absent for clients registered by a user or by the operator.
   */
  readonly self_registered?: SelfRegistration
}

/** The settings that only the server sets. */
export type ServerSetting =
  | 'sealed_secret'
  | 'previous_secret'
  | 'self_registered'
  | 'verified'
  | 'provider'

/** The settings a client may choose for itself. The server sets the others. */
export type ConfigurableClientSettings = Omit<ClientSettings, ServerSetting>

/** A client secret that was replaced by a planned rotation, and that expires at a fixed time. */
export interface PreviousSecret {
  /** Hash of the secret. */
  readonly hash: string
  /** When the secret expires, in milliseconds since the epoch. */
  readonly until: number
  /** The secret, encrypted, for `client_secret_jwt`. */
  readonly sealed?: string
}

/**
 * Client settings that the server can fulfil only if the matching feature is enabled, such as
 * `dpop()`.
 */
export type ClientRequirement =
  | 'require_pushed_authorization_requests'
  | 'require_signed_request_object'
  | 'dpop_bound_access_tokens'

/** How a client registered itself, and whether it has been used or verified since. */
export interface SelfRegistration {
  /**
   * `registration` for dynamic client registration (RFC 7591), `document` for a Client ID Metadata
   * Document.
   */
  readonly by: 'registration' | 'document'
  /** URL of the client's metadata document, which is also its `client_id`. */
  readonly document?: string
  /** Whether the operator has verified the client. See `clients.verify()`. */
  readonly verified?: boolean
  /**
   * Hash of the registration access token, with which the client manages its registration (RFC
   * 7592).
   */
  readonly management_hash?: string
  /**
   * When the client is deleted if it is not used until then, in milliseconds since the epoch.
   * Absent once the client was used.
   */
  readonly unused_until?: number
}

/** Client authentication methods of RFC 7591 §2 and OpenID Connect Core §9. */
export type ClientAuthMethod =
  | 'client_secret_basic'
  | 'client_secret_post'
  | 'client_secret_jwt'
  | 'private_key_jwt'
  | 'none'
