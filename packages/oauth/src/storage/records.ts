/**
 * The records of the storage interface. Every repository method is atomic, so that callers cannot
 * cause races. The tests in `testing/storage-contract.ts` are the full specification.
 */
import type { ClientSettings } from './client-settings.ts'
import type { GrantDetails } from './details.ts'

/** A registered OAuth client: an application that requests tokens. */
export interface Client {
  /** The `client_id`. For a client with a metadata document, a short id derived from its URL. */
  readonly id: string
  /** The user who registered the client. `null` for clients of the application itself. */
  readonly userId: string | null
  /** Name shown on the consent screen. */
  readonly name: string
  /**
   * Whether the client is confidential. `false` for public clients, which cannot keep a secret.
   * Never derived from `secretHash`, so that a lost hash does not make a client public.
   */
  readonly confidential: boolean
  /**
   * Hash of the client secret. `null` for public clients. A confidential client without it cannot
   * authenticate until its secret is rotated.
   */
  readonly secretHash: string | null
  /**
   * Version of the secret, increased by each rotation. Refresh tokens issued under an older version
   * are invalid.
   */
  readonly secretVersion: number
  /** Registered redirect URIs, compared character by character. */
  readonly redirectUris: readonly string[]
  /** The grant types the client may use. */
  readonly grantTypes: readonly string[]
  /** Scopes the client may request. `null` for any defined scope. */
  readonly scopes: readonly string[] | null
  /** Whether the client belongs to the application itself, so that no consent is required. */
  readonly firstParty: boolean
  /** Whether the client is an API that may introspect tokens of other clients. */
  readonly resourceServer: boolean
  /** Optional client metadata. Empty for most clients. */
  readonly settings: ClientSettings
  /** When the client was deleted. `null` if it was not. */
  readonly revokedAt: Date | null
  /** When the client was registered. */
  readonly createdAt: Date
  /** When the client was last changed. */
  readonly updatedAt: Date
}

/**
 * An access token and its refresh token, stored in one row. A refresh rewrites this row, so
 * rotation, reuse detection and revocation exclude each other on every database.
 */
export interface Token {
  /** Primary key in the `oauth_tokens` table. The `jti` of access tokens begins with it. */
  readonly id: string
  /** The client that holds the token. */
  readonly clientId: string
  /** The user the token acts for. `null` if the client acts for itself. */
  readonly userId: string | null
  /** Grant type that created the token. */
  readonly grantType: string
  /** Name of a personal access token. `null` for all other tokens. */
  readonly name: string | null
  /** The granted scopes. */
  readonly scopes: readonly string[]
  /** Number of refreshes so far. A refresh token of an older generation has been used. */
  readonly generation: number
  /**
   * Version of the client secret when the token was issued. Rotating the secret invalidates the
   * token.
   */
  readonly clientSecretVersion: number
  /** When the current access token was issued. */
  readonly issuedAt: Date
  /** When the current access token expires. */
  readonly expiresAt: Date
  /** When the refresh token expires. `null` if there is none. */
  readonly refreshExpiresAt: Date | null
  /** When the refresh token before the current one expires. `null` before the first refresh. */
  readonly previousExpiresAt: Date | null
  /**
   * The last generation that was issued a second time because its predecessor was presented late (a
   * late repeat). `null` if there was none.
   */
  readonly lateGeneration: number | null
  /** When every token ever issued from this row has expired. The row may be purged after that. */
  readonly liveUntil: Date
  /** When the token was revoked. `null` if it was not. */
  readonly revokedAt: Date | null
  /** When the grant was created. */
  readonly createdAt: Date
  /**
   * When a personal access token was last used, accurate to a day: the actual last use may be up to
   * a day later. `null` if it was never used, and for all other tokens.
   */
  readonly lastUsedAt: Date | null
  /** Data of the grant in addition to its scopes. `null` for most. */
  readonly details: GrantDetails | null
}

/**
 * Describes the use of a refresh token: the expected state of the stored token, and its new values.
 */
export interface TokenRotation {
  /** Id of the token's row. */
  readonly id: string
  /** Expected client of the row. */
  readonly clientId: string
  /** Expected `clientSecretVersion` of the row. */
  readonly clientSecretVersion: number
  /** Generation that the row must still have; otherwise nothing is rotated. */
  readonly generation: number
  /** New generation of the row: one more than that of the presented refresh token. */
  readonly nextGeneration: number
  /** Time of the refresh. */
  readonly issuedAt: Date
  /** When the new access token expires. */
  readonly expiresAt: Date
  /** When the new refresh token expires. */
  readonly refreshExpiresAt: Date
  /**
   * Whether the rotation also ends the previous access tokens, in the same transaction. See
   * `listRevocationsByRotation()`.
   */
  readonly endsOldAccessTokens: boolean
  /** New details of the row. `undefined` leaves them unchanged. */
  readonly details?: GrantDetails
}

/**
 * Selects one token, all tokens of a user, the tokens of a user at one client, or the tokens without
 * a user that a client got for itself (`userId: null`).
 */
export type TokenSelector =
  | { readonly id: string }
  | { readonly userId: string }
  | { readonly userId: string | null; readonly clientId: string }

/** An authorization code. */
export interface AuthorizationCode {
  /** Hash of the code. The code itself is not stored. */
  readonly hash: string
  /**
   * Id of the token that the code is exchanged for. Chosen in advance, so that one code never
   * creates two tokens.
   */
  readonly tokenId: string
  /** The client that may exchange the code. */
  readonly clientId: string
  /** The user who approved the request. */
  readonly userId: string
  /**
   * The `redirect_uri` of the request. `null` if the request omitted it, which is allowed for
   * clients with a single redirect URI.
   */
  readonly redirectUri: string | null
  /** The approved scopes. */
  readonly scopes: readonly string[]
  /** PKCE code challenge. `null` if the request had none. */
  readonly codeChallenge: string | null
  /** When the code expires. */
  readonly expiresAt: Date
  /** When the code was exchanged. `null` if it was not. */
  readonly usedAt: Date | null
  /** Data of the future token in addition to its scopes. `null` for most. */
  readonly details: GrantDetails | null
}

/** An authorization request that waits for the user to approve or deny it. */
export interface Interaction {
  /** Hash of the interaction's id. Only the consent page knows the id itself. */
  readonly hash: string
  /** The client that sent the request. */
  readonly clientId: string
  /** The user who must decide. */
  readonly userId: string
  /** Hash of the application's session id. `null` if the application does not provide one. */
  readonly sessionId: string | null
  /** The response type of the request, such as `code` or `token`. */
  readonly responseType: string
  /** The redirect URI to which the response is sent. */
  readonly redirectTo: string
  /** The `redirect_uri` of the request exactly as sent. `null` if the request omitted it. */
  readonly redirectUri: string | null
  /** The requested scopes. */
  readonly scopes: readonly string[]
  /** The `state` parameter, returned to the client unchanged. */
  readonly state: string | null
  /** PKCE code challenge. `null` if the request had none. */
  readonly codeChallenge: string | null
  /** When the consent screen was shown. */
  readonly createdAt: Date
  /** When the interaction expires. It cannot be decided afterwards. */
  readonly expiresAt: Date
  /** When the user decided. `null` while the request is pending. */
  readonly decidedAt: Date | null
  /** Data of the request in addition to its scopes. `null` for most. */
  readonly details: GrantDetails | null
}

/** A remembered approval: the client gets these scopes without asking the user again. */
export interface Consent {
  /** The user who approved. */
  readonly userId: string
  /** The approved client. */
  readonly clientId: string
  /** All scopes approved so far. */
  readonly scopes: readonly string[]
  /**
   * Scopes that the user declined. They are not granted, and later approval screens do not show
   * them. `null` if there are none.
   */
  readonly declined?: readonly string[] | null
  /** When the user last approved a request of the client. */
  readonly updatedAt: Date
}

/** A user's approval of a request, and what it creates. */
export interface Approval {
  /** Time of the approval. */
  readonly at: Date
  /** The consent to store. `null` leaves the stored consent unchanged. */
  readonly consent: Consent | null
  /** The authorization code to store. Absent if the response contains none. */
  readonly code?: AuthorizationCode
  /**
   * The token to store. Absent if the response contains none; only implicit and hybrid flows do.
   */
  readonly token?: Token
}

/**
 * A short-lived record with a secret or unique name, such as a pushed request, a pending device
 * authorization or the `jti` of a used proof.
 */
export interface Ticket {
  /** Hash of the kind and name, from `hashTicketName()`. The name itself is not stored. */
  readonly hash: string
  /** Kind of ticket, such as a pushed request or a used DPoP proof. */
  readonly kind: string
  /** Content of the ticket, usually as JSON. */
  readonly content: string
  /** When the ticket expires. */
  readonly expiresAt: Date
  /**
   * The party whose quota the ticket counts against, such as a network. `null` once the ticket was
   * used, and for tickets that count against no quota.
   */
  readonly holder: string | null
}

/** The state of the counter of a limit. */
export interface LimitCount {
  /** Current count. */
  readonly points: number
  /** When the counter starts again from zero. */
  readonly expiresAt: Date
}

/**
 * A request for one of the places of a limit. A check of a secret occupies a place while it runs.
 */
export interface LimitPlaceRequest {
  /** Name of the limit, including the account or network it applies to. */
  readonly name: string
  /** Number of places of the limit. */
  readonly max: number
  /** Id of the check that takes the place. Only the check with this id can release it. */
  readonly holder: string
  /** The current time, from which the place is taken. */
  readonly at: Date
  /** When the place is released if the check never reports its result. */
  readonly until: Date
}

/** Result of a request for a place of a limit on failed checks. */
export type LimitPlaceResult =
  | {
      /** Name of the place. */
      readonly place: string
    }
  | {
      readonly place: null
      /** Whether a running check occupies one of the places, so that waiting is worthwhile. */
      readonly isHeld: boolean
      /** Latest time at which the first place becomes free. */
      readonly freeAt: Date
    }

/** Number of unused tickets of one kind that one holder has. */
export interface HolderTicketCount {
  /** The party that holds the tickets, such as a network. */
  readonly holder: string
  /** Number of unused tickets. */
  readonly count: number
}

/** Records that a user is signed in to a client through a session of the application. */
export interface ClientSession {
  /** Session id known to the client: `sid` in ID tokens and logout tokens. */
  readonly sid: string
  /** Hash of the application's own session id. */
  readonly sessionId: string
  /** The client the user is signed in to. */
  readonly clientId: string
  /** The user who is signed in. */
  readonly userId: string
  /** When the client got its first ID token in this session. */
  readonly createdAt: Date
  /** When the client last got an ID token, accurate to one hour. */
  readonly seenAt: Date
  /** When the record expires. */
  readonly liveUntil: Date
}

/** Selects one session, all sessions of a user, or all sessions. */
export type SessionSelector =
  | { readonly sessionId: string }
  | { readonly userId: string }
  | { readonly everyone: true }

/** A queued logout: a client that must be notified that a session has ended. */
export interface PendingLogout {
  /** The `jti` of the logout token, the same for every attempt. */
  readonly id: string
  /** The client to notify. */
  readonly clientId: string
  /** The user who has signed out. */
  readonly userId: string
  /** Session id known to the client. */
  readonly sid: string
  /** Number of failed attempts so far. */
  readonly attempts: number
  /** When the next attempt is due. */
  readonly dueAt: Date
  /** When the logout expires. No further attempts are made afterwards. */
  readonly expiresAt: Date
}

/** A signing key as stored. */
export interface StoredKey {
  /** Key id. */
  readonly kid: string
  /** JWS algorithm of the key. */
  readonly algorithm: string
  /** Public key (JWK) as JSON. */
  readonly publicJwk: string
  /** Private key (JWK), encrypted with a key derived from the server's secret. */
  readonly sealedPrivateJwk: string
  /** When the key was created. */
  readonly createdAt: Date
  /** When the key begins to sign. It is published earlier. */
  readonly activeFrom: Date
}

/**
 * Kind of event that an entry of the revocation feed announces. `everyone` ends the sign-ins of all
 * users. `ended` replaces purged entries: everything that had expired at its time stays invalid.
 */
export type RevocationKind =
  | 'token'
  | 'client'
  | 'client-changed'
  | 'user'
  | 'everyone'
  | 'session'
  | 'keys'
  | 'ended'

/** One entry of the revocation feed. */
export interface Revocation {
  /** Id of the entry. Ids increase, but an entry may become visible after one with a larger id. */
  readonly id: number
  /** Kind of revocation. */
  readonly kind: RevocationKind
  /** Id of the revoked or changed object, such as a token or client. */
  readonly subject: string
  /** Time of the revocation, by the clock of the process that made it. */
  readonly at: Date
  /** When everything that the entry affects has expired. The entry may be purged afterwards. */
  readonly until: Date
  /**
   * Random value set by the store. Distinguishes the entry from another one that reuses its id
   * after a failover or restore.
   */
  readonly mark: string
  /** When the entry was stored, by the clock of the store. */
  readonly writtenAt: Date
}

/**
 * An entry of the revocation feed before it is stored. The store sets its id, its mark and the time
 * of writing.
 */
export type NewRevocation = Omit<Revocation, 'id' | 'mark' | 'writtenAt'>

/**
 * How long an entry of the revocation feed is kept after it stops being the newest, by the clock of
 * the store, in milliseconds.
 */
export const FEED_RETENTION_MS = 24 * 3600 * 1000

/** The result of one read of the revocation feed: the entries, and the time of the read. */
export interface RevocationFeedPage {
  /** Entries in the order of their ids. */
  readonly entries: readonly Revocation[]
  /** Time of the read, by the clock of the store. */
  readonly now: Date
  /**
   * The counter that `beat()` increases, as the server that was read shows it. `null` or absent if
   * the store has no such counter.
   */
  readonly beat?: number | null
}

/**
 * Builds an `ended` entry for the revocation feed: everything that had expired at this time stays
 * invalid. The entry never expires, but is replaced by the next one.
 */
export function buildEndedEntry(at: Date): NewRevocation {
  return { kind: 'ended', subject: 'before', at, until: new Date('9999-12-31T00:00:00Z') }
}
