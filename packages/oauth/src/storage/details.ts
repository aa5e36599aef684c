import type { SigningAlgorithm } from '../crypto.ts'

/** What a grant carries beyond scopes. Only what was asked for is there; plain OAuth 2.0 has none of it. */
export interface GrantDetails {
  /** OpenID Connect: comes back in the ID token. */
  readonly nonce?: string
  /** OpenID Connect Core §5.5: single claims that were asked for. */
  readonly claims?: ClaimsRequest
  /** Scopes that people were shown beside those asked for, because parts of them are asked for by name. */
  readonly alsoShown?: readonly string[]
  /** OpenID Connect: which kinds of sign-in the client would like, the best first. */
  readonly acrValues?: readonly string[]
  /** RFC 8707: the APIs the tokens are for. */
  readonly resources?: readonly string[]
  /** RFC 9449: the thumbprint of the key whose holder alone may use it. */
  readonly dpopKey?: string
  /** The refresh token stays the same for as long as it lives: a key protects it, not rotation. */
  readonly keepsRefreshToken?: true
  /** RFC 9470: the access token says how the person had signed in. */
  readonly saysSignIn?: boolean
  /** The access token says nothing to its holder, whatever the format of the server. */
  readonly opaque?: boolean
  /** What the access token is signed with, where it is not the usual. */
  readonly signedWith?: SigningAlgorithm
  /** How the answer reaches the client, where it is not the usual way of its response type. */
  readonly responseMode?: string
  /** Of an interaction alone: the hash of the ticket that ends with the answer. */
  readonly ticket?: string
  /** Of an interaction alone: there were no details beside the ticket. */
  readonly ticketOnly?: true
  /** How the person had signed in. */
  readonly signIn?: SignInDetails
  /** RFC 8693: the tokens it was exchanged for, and what those came from. It ends with each of them. */
  readonly parents?: readonly ParentToken[]
  /** RFC 8693 §4.1: who acts for the person, the last one outermost. */
  readonly actor?: Actor
  /** Claims of the application, as the newest access token has them. */
  readonly added?: AddedByApplication
}

/** Claims that the application has added to an access token. */
export interface AddedByApplication {
  /** The hashed scopes and audience of that token: another token of the row does not have these claims. */
  readonly for: string
  /** By their names. */
  readonly claims: Readonly<Record<string, unknown>>
}

/** A token that another one was exchanged for. */
export interface ParentToken {
  /** Of the access token that was shown: its row, a dot, and how often it was refreshed. */
  readonly jti: string
  /** Who was given it. */
  readonly client_id: string
}

/** RFC 8693 §4.1. */
export interface Actor {
  /** Who acts. */
  readonly sub: string
  /** For whom that one acted before. */
  readonly act?: Actor
}

/** The sign-in behind a grant. */
export interface SignInDetails {
  /** When the person gave their password or other proof, in seconds. */
  readonly at?: number
  /** The session's name in ID tokens and logout tokens. */
  readonly sid?: string
  /** The application's own session, hashed. Told to nobody. */
  readonly session?: string
  /** How well it was proven. */
  readonly acr?: string
  /** By which means (RFC 8176). */
  readonly amr?: readonly string[]
}

/** OpenID Connect Core §5.5. */
export interface ClaimsRequest {
  /** To be answered by UserInfo. */
  readonly userinfo?: Readonly<Record<string, ClaimWish | null>>
  /** To be in the ID token. */
  readonly id_token?: Readonly<Record<string, ClaimWish | null>>
}

/** What is asked of one claim (OpenID Connect Core §5.5.1). */
export interface ClaimWish {
  /** Without it the client can do little. */
  readonly essential?: boolean
  /** It should have this value. */
  readonly value?: unknown
  /** It should have one of these, the best first. */
  readonly values?: readonly unknown[]
}
