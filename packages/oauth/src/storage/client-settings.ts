/**
 * What a client has beyond the first edition of OAuth 2.0: the members of RFC 7591 §2 and OpenID Connect
 * Registration §2, by their own names. Only what was set is there.
 */
export interface ClientSettings {
  /** How it proves itself. Default: any way its secret allows. */
  readonly token_endpoint_auth_method?: ClientAuthMethod
  /** The only algorithm it signs its proofs with. */
  readonly token_endpoint_auth_signing_alg?: string
  /** Its public keys, as a set (RFC 7517 §5). */
  readonly jwks?: { readonly keys: readonly Readonly<Record<string, unknown>>[] }
  /** Where its public keys are. */
  readonly jwks_uri?: string
  /** Its secret for `client_secret_jwt`, sealed: the hash of it is of no use there. */
  readonly sealed_secret?: string
  /** What its access tokens are signed with. */
  readonly access_token_signed_response_alg?: string
  /** What its ID tokens are signed with. */
  readonly id_token_signed_response_alg?: string
  /** UserInfo as a JWT, signed with this. */
  readonly userinfo_signed_response_alg?: string
  /** Introspection as a JWT, signed with this (RFC 9701). */
  readonly introspection_signed_response_alg?: string
  /** The only algorithm its request objects may have (RFC 9101). */
  readonly request_object_signing_alg?: string
  /** It takes part only with requests that it has signed (RFC 9101). */
  readonly require_signed_request_object?: boolean
  /** Where its request objects may lie. */
  readonly request_uris?: readonly string[]
  /** What its scopes tell of the person stands in ID tokens too, for a client that never asks UserInfo. */
  readonly claims_in_id_token?: boolean
  /** `pairwise`: it learns a name of the person that no other client knows. */
  readonly subject_type?: 'public' | 'pairwise'
  /** Clients with the same one share those names. */
  readonly sector_identifier_uri?: string
  /** Longest time since the sign-in, where a request does not say. */
  readonly default_max_age?: number
  /** ID tokens always say when the person signed in. */
  readonly require_auth_time?: boolean
  /** Which kinds of sign-in it would like, where a request does not say. */
  readonly default_acr_values?: readonly string[]
  /** Where people may be sent after they have signed out. */
  readonly post_logout_redirect_uris?: readonly string[]
  /** Where it is told that somebody has signed out. */
  readonly backchannel_logout_uri?: string
  /** It wants to know which session has ended. */
  readonly backchannel_logout_session_required?: boolean
  /** Origins of its pages beside those of its https redirect addresses, such as `http://localhost:5173`. */
  readonly allowed_origins?: readonly string[]
  /** It takes part only with requests that it has pushed (RFC 9126). */
  readonly require_pushed_authorization_requests?: boolean
  /** It takes only tokens that are bound to its key (RFC 9449). */
  readonly dpop_bound_access_tokens?: boolean
  /** What it may ask for at the authorization endpoint, of what its grants allow. Left out: all of that. */
  readonly response_types?: readonly string[]
  /** `native` for apps on a device. */
  readonly application_type?: 'web' | 'native'
  /** Its home page. */
  readonly client_uri?: string
  /** Its picture. Shown only for verified clients, and never linked from elsewhere. */
  readonly logo_uri?: string
  /** What it does with people's data. */
  readonly policy_uri?: string
  /** What people agree to. */
  readonly tos_uri?: string
  /** Whom to write to. */
  readonly contacts?: readonly string[]
  /** Of a client that a person has registered: somebody who runs the server vouches for it. */
  readonly verified?: boolean
  /** Of a client that has registered itself. */
  readonly self_registered?: SelfRegistration
}

/** Settings by which a client relies on something that a feature does. */
export type ClientDemand =
  | 'require_pushed_authorization_requests'
  | 'require_signed_request_object'
  | 'dpop_bound_access_tokens'

/** How a client came here by itself. */
export interface SelfRegistration {
  /** By RFC 7591, or by a document at its address (Client ID Metadata Document). */
  readonly by: 'registration' | 'document'
  /** The address of its document, which is its `client_id`. */
  readonly document?: string
  /** Somebody here vouches for it. */
  readonly verified?: boolean
  /** Of the token that manages it (RFC 7592). */
  readonly management_hash?: string
  /** Deleted then, unless it was used before. In milliseconds. */
  readonly unused_until?: number
}

/** RFC 7591 §2 and OpenID Connect Core §9. */
export type ClientAuthMethod =
  | 'client_secret_basic'
  | 'client_secret_post'
  | 'client_secret_jwt'
  | 'private_key_jwt'
  | 'none'
