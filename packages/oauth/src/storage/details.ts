import type { SigningAlgorithm } from '../crypto.ts'

/**
 * Data that a grant carries in addition to its scopes. Members that the request did not use are
 * absent; a plain OAuth 2.0 request uses none.
 */
export interface GrantDetails {
  /** Nonce of the authentication request, returned in the ID token (OpenID Connect). */
  readonly nonce?: string
  /** Individually requested claims (OpenID Connect Core §5.5). */
  readonly claims?: ClaimsRequest
  /**
   * Scopes that the consent screen showed in addition to the requested ones, because the request
   * names individual claims that belong to these scopes.
   */
  readonly alsoShown?: readonly string[]
  /** Requested authentication context classes in order of preference (OpenID Connect). */
  readonly acrValues?: readonly string[]
  /** Resource URIs of the APIs the tokens are for (RFC 8707). */
  readonly resources?: readonly string[]
  /**
   * Thumbprint of the key the tokens are bound to (RFC 9449). Only the holder of the key may use
   * them.
   */
  readonly dpopKey?: string
  /**
   * Set if the refresh token stays the same instead of being rotated, because it is protected by
   * the key that it is bound to.
   */
  readonly keepsRefreshToken?: true
  /** Whether the access token contains `auth_time` and `acr` of the sign-in (RFC 9470). */
  readonly saysSignIn?: boolean
  /**
   * Whether the access token is opaque regardless of the server's format, because its holder must
   * not read it.
   */
  readonly opaque?: boolean
  /** Algorithm that signs the access token. If absent, the algorithm of the API. */
  readonly signedWith?: SigningAlgorithm
  /** Response mode of the request. If absent, the default of its response type. */
  readonly responseMode?: string
  /**
   * Hash of the single-use ticket of the authorization request, such as a pushed request. The first
   * response to the request consumes it.
   */
  readonly ticket?: string
  /**
   * Set if the authorization request has no details apart from `ticket`. The grant that results
   * from it then has the details `null`.
   */
  readonly ticketOnly?: true
  /** How and when the user signed in. */
  readonly signIn?: SignInDetails
  /**
   * The tokens this token was exchanged for, with their own parents (RFC 8693). When one of them is
   * revoked, this token becomes invalid, too.
   */
  readonly parents?: readonly ParentToken[]
  /**
   * The party that acts for the user (RFC 8693 §4.1). With several, the most recent one is
   * outermost.
   */
  readonly actor?: Actor
  /** The application's own claims (`accessTokenClaims`) in the most recent access token. */
  readonly added?: AddedByApplication
}

/** Claims that the application has added to an access token. */
export interface AddedByApplication {
  /**
   * Hash of the scopes and audience of the access token that has the claims. Access tokens of the
   * same grant with other scopes or another audience do not have them.
   */
  readonly for: string
  /** The claims by name. */
  readonly claims: Readonly<Record<string, unknown>>
}

/** A token that was exchanged for another one (RFC 8693). */
export interface ParentToken {
  /**
   * The `jti` of the exchanged access token: the id of its row, a dot, and the number of refreshes.
   */
  readonly jti: string
  /** The `client_id` of the client the exchanged token was issued to. */
  readonly client_id: string
}

/** A party that acts for a user (RFC 8693 §4.1). */
export interface Actor {
  /** Subject of the acting party. */
  readonly sub: string
  /** The party that acted before this one in the delegation chain. */
  readonly act?: Actor
}

/** How and when the user of a grant signed in. */
export interface SignInDetails {
  /** When the user authenticated (`auth_time`), in seconds since the epoch. */
  readonly at?: number
  /** Session id in ID tokens and logout tokens (`sid`). */
  readonly sid?: string
  /** Hash of the application's own session id. Never leaves the server. */
  readonly session?: string
  /** Authentication context class of the sign-in (`acr`). */
  readonly acr?: string
  /** Authentication methods of the sign-in (`amr`, RFC 8176). */
  readonly amr?: readonly string[]
}

/** The `claims` parameter of an authentication request (OpenID Connect Core §5.5). */
export interface ClaimsRequest {
  /** Claims requested from UserInfo. `null` requests a claim without conditions. */
  readonly userinfo?: Readonly<Record<string, RequestedClaim | null>>
  /** Claims requested in the ID token. `null` requests a claim without conditions. */
  readonly id_token?: Readonly<Record<string, RequestedClaim | null>>
}

/** Conditions for one requested claim (OpenID Connect Core §5.5.1). */
export interface RequestedClaim {
  /** Whether the client depends on the claim. */
  readonly essential?: boolean
  /** The value the claim should have. */
  readonly value?: unknown
  /** The values the claim may have, in order of preference. */
  readonly values?: readonly unknown[]
}
