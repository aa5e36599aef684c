/**
 * What the authorization server asks of a store. Each method is one whole step, so that no caller
 * can leave a race between two. `testing/storage-contract.ts` says in tests what is meant here.
 */
import type { ClientSettings } from './client-settings.ts'
import type { GrantDetails } from './details.ts'

/** An application that asks for tokens. */
export interface Client {
  /** Its `client_id`. */
  readonly id: string
  /** The person who registered it; null for clients of the application itself. */
  readonly userId: string | null
  /** What people read when they are asked to approve it. */
  readonly name: string
  /** False for public clients, which cannot keep a secret. Never told from the hash: losing it opens nothing. */
  readonly confidential: boolean
  /** Null for public clients. A confidential one without it cannot authenticate until it is rotated. */
  readonly secretHash: string | null
  /** Grows when the secret is rotated: refresh tokens of an older version are dead. */
  readonly secretVersion: number
  /** Where people may be sent back to, compared character by character. */
  readonly redirectUris: readonly string[]
  /** The grants it may use. */
  readonly grantTypes: readonly string[]
  /** Null: any defined scope. */
  readonly scopes: readonly string[] | null
  /** Belongs to the application itself, so nobody needs to be asked for consent. */
  readonly firstParty: boolean
  /** An API that may introspect tokens of other clients. */
  readonly resourceServer: boolean
  /** What it has beyond these; empty for most. */
  readonly settings: ClientSettings
  /** When it was deleted; null while it lives. */
  readonly revokedAt: Date | null
  /** When it was registered. */
  readonly createdAt: Date
  /** When it was last changed. */
  readonly updatedAt: Date
}

/**
 * An access token together with its refresh token. A refresh rewrites this one row, which is what
 * makes rotation, reuse and revocation exclude each other on every database.
 */
export interface Token {
  /** Names the row; the `jti` of the access token. */
  readonly id: string
  /** Who holds it. */
  readonly clientId: string
  /** Null when the client acts for itself. */
  readonly userId: string | null
  /** How it was got. */
  readonly grantType: string
  /** Only personal access tokens have one. */
  readonly name: string | null
  /** What it may do. */
  readonly scopes: readonly string[]
  /** How often the refresh token was used: each use makes the number in older ones stale. */
  readonly generation: number
  /** The version of the client's secret it was issued under: a rotated secret ends it. */
  readonly clientSecretVersion: number
  /** When the present access token was issued, and when it expires. */
  readonly issuedAt: Date
  /** When the access token expires. */
  readonly expiresAt: Date
  /** When the refresh token expires; null where there is none. */
  readonly refreshExpiresAt: Date | null
  /** When the refresh token that the present one replaced would have expired; null before a refresh. */
  readonly previousExpiresAt: Date | null
  /** The last generation that was handed out a second time late, because its predecessor came again. */
  readonly lateGeneration: number | null
  /** After this moment nothing that was ever issued from this row is alive, and it may be purged. */
  readonly liveUntil: Date
  /** When it was revoked; null while it lives. */
  readonly revokedAt: Date | null
  /** When the grant began. */
  readonly createdAt: Date
  /** What it carries beyond scopes; null for most. */
  readonly details: GrantDetails | null
}

/** One use of a refresh token. */
export interface Rotation {
  /** Of the row. */
  readonly id: string
  /** What the row must have. */
  readonly clientId: string
  /** What the row must have. */
  readonly clientSecretVersion: number
  /** What the row must have. */
  readonly generation: number
  /** What the row gets: one more than the refresh token presented. */
  readonly nextGeneration: number
  /** When. */
  readonly issuedAt: Date
  /** Of the new access token. */
  readonly expiresAt: Date
  /** Of the new refresh token. */
  readonly refreshExpiresAt: Date
  /** Whether the access tokens before this one end: in the same step, as `endedByRotation` says. */
  readonly endsBefore: boolean
  /** What the row's details become; undefined leaves them as they are. */
  readonly details?: GrantDetails
}

/** One token, all of a person, or those of a person at one client. */
export type TokenSelector =
  | { readonly id: string }
  | { readonly userId: string }
  | { readonly userId: string; readonly clientId: string }

/** An authorization code, by its hash. */
export interface AuthorizationCode {
  /** Of the code; the code itself is not stored. */
  readonly hash: string
  /** The id its token will have: one code can never lead to two rows. */
  readonly tokenId: string
  /** Who may exchange it. */
  readonly clientId: string
  /** Who approved. */
  readonly userId: string
  /** What the request said, null when it named none and the client has just one. */
  readonly redirectUri: string | null
  /** What was approved. */
  readonly scopes: readonly string[]
  /** Of PKCE, null when none was sent. */
  readonly codeChallenge: string | null
  /** Shortly after it was made. */
  readonly expiresAt: Date
  /** Null until it is exchanged. */
  readonly usedAt: Date | null
  /** What its token will carry beyond scopes. */
  readonly details: GrantDetails | null
}

/** One authorization request waiting for a person to approve or deny it. */
export interface Interaction {
  /** Of its id, which only the page knows. */
  readonly hash: string
  /** Who asks. */
  readonly clientId: string
  /** Who is asked. */
  readonly userId: string
  /** Hashed; null where the application names no sessions. */
  readonly sessionId: string | null
  /** What the client gets: `code` or `token`. */
  readonly responseType: string
  /** Where the answer goes, and what the request literally said of it. */
  readonly redirectTo: string
  /** Null when the request named none. */
  readonly redirectUri: string | null
  /** What is asked for. */
  readonly scopes: readonly string[]
  /** What the client gets back unchanged. */
  readonly state: string | null
  /** Of PKCE, null when none was sent. */
  readonly codeChallenge: string | null
  /** When it was shown. */
  readonly createdAt: Date
  /** After this nobody can decide it. */
  readonly expiresAt: Date
  /** Null until it is decided. */
  readonly decidedAt: Date | null
  /** What the request said beyond scopes. */
  readonly details: GrantDetails | null
}

/** What somebody has approved for a client, and is not asked again. */
export interface Consent {
  /** Who approved. */
  readonly userId: string
  /** For whom. */
  readonly clientId: string
  /** Everything approved so far. */
  readonly scopes: readonly string[]
  /** What they were asked for and left out; nothing or null for none. It is not given, and they are not asked again. */
  readonly declined?: readonly string[] | null
  /** When they last approved something. */
  readonly updatedAt: Date
}

/** What a person decided, and what comes of it. */
export interface Approval {
  /** When. */
  readonly at: Date
  /** What is remembered of it; null for nothing: what was approved before stays as it is. */
  readonly consent: Consent | null
  /** Exactly one of the two is made by an approval. */
  readonly code?: AuthorizationCode
  /** The token of the implicit grant. */
  readonly token?: Token
}

/**
 * Something that lives for a short time under a name that only some know: a request that was pushed, a
 * device that waits, a proof that must not come twice.
 */
export interface Ticket {
  /** Of its kind and its name, by `ticketHash()`; the name itself is not stored. */
  readonly hash: string
  /** What it is. */
  readonly kind: string
  /** As JSON. */
  readonly content: string
  /** After this it counts for nothing. */
  readonly expiresAt: Date
  /** Whose share of the tickets of its kind it takes, such as a network; null once it was used, and for those without a share. */
  readonly holder: string | null
}

/** A count of a limit. */
export interface LimitCount {
  /** How many. */
  readonly points: number
  /** When it begins anew. */
  readonly expiresAt: Date
}

/** One of the places that a limit has for checks of a secret. */
export interface PlaceRequest {
  /** The limit, with the account or network that it is for. */
  readonly name: string
  /** How many places it has. */
  readonly most: number
  /** Names the check, so that no other one gives its place back. */
  readonly holder: string
  /** Now. */
  readonly at: Date
  /** When the place is free again if nobody says how the check went. */
  readonly until: Date
}

/** What came of asking for a place. */
export type TakenPlace =
  | {
      /** The name of the place. */
      readonly place: string
    }
  | {
      readonly place: null
      /** Whether a check that is not finished has one of the places: then it is worth waiting. */
      readonly isHeld: boolean
      /** When the first place is free again by itself. */
      readonly freeAt: Date
    }

/** How many unused tickets of a kind one holder has. */
export interface HeldTickets {
  /** Whose they are. */
  readonly holder: string
  /** How many. */
  readonly count: number
}

/** That somebody was signed in to a client through a session of the application. */
export interface ClientSession {
  /** What the client knows it by: `sid` of its ID tokens and logout tokens. */
  readonly sid: string
  /** Of the application's own session, hashed. */
  readonly sessionId: string
  /** Who was told that the person is signed in. */
  readonly clientId: string
  /** Who is signed in. */
  readonly userId: string
  /** When the client got its first ID token. */
  readonly createdAt: Date
  /** When it last got one, to within an hour. */
  readonly seenAt: Date
  /** After this it is forgotten. */
  readonly liveUntil: Date
}

/** One session, all of a person, or all there are. */
export type SessionSelector =
  | { readonly sessionId: string }
  | { readonly userId: string }
  | { readonly everyone: true }

/** A client that has to be told of the end of a session. */
export interface PendingLogout {
  /** The `jti` of its logout token, the same each time it is sent. */
  readonly id: string
  /** Who has to be told. */
  readonly clientId: string
  /** Who has signed out. */
  readonly userId: string
  /** What the client knows the session by. */
  readonly sid: string
  /** How often it was sent in vain. */
  readonly attempts: number
  /** When it is sent, or sent again. */
  readonly dueAt: Date
  /** After this nobody tries any more. */
  readonly expiresAt: Date
}

/** A signing key as it is stored. */
export interface StoredKey {
  /** Its id. */
  readonly kid: string
  /** What it signs with. */
  readonly algorithm: string
  /** As JSON. */
  readonly publicJwk: string
  /** Encrypted with a key derived from the server's secret. */
  readonly sealedPrivateJwk: string
  /** When it was made. */
  readonly createdAt: Date
  /** From here on it signs; it is published before. */
  readonly activeFrom: Date
}

/**
 * `everyone` ends the sign-ins of all. `ended` stands for all that was purged: what had ended by its
 * moment stays ended.
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

/** One entry of the feed: something has ended. */
export interface Revocation {
  /** Grows. */
  readonly id: number
  /** What has ended. */
  readonly kind: RevocationKind
  /** Which of them, by its id. */
  readonly subject: string
  /** When, by the clock of the process that did it. */
  readonly at: Date
  /** When nothing it concerns can be alive any more, and it may be forgotten. */
  readonly until: Date
  /**
   * Random, of the store's making: tells it from another entry that got its id after a failover or a
   * restore. Null where an older version wrote it.
   */
  readonly mark: string | null
  /** By the clock of the store. Null where an older version wrote it. */
  readonly writtenAt: Date | null
}

/** An entry before the store has given it an id. */
export type NewRevocation = Omit<Revocation, 'id' | 'mark' | 'writtenAt'>

/** So long, by the clock of the store, an entry stays after the one behind it was written. */
export const FEED_KEPT = 24 * 3600 * 1000

/** What a reader gets of the feed, all at the same moment. */
export interface FeedPage {
  /** In the order of their ids. */
  readonly entries: readonly Revocation[]
  /** What the clock of the store said. */
  readonly now: Date
  /** The count of `beat()` as the server has it that was read, if the store counts. */
  readonly beat?: number | null
}

/** Kept for ever, until a later one takes its place. */
export function endedMark(at: Date): NewRevocation {
  return { kind: 'ended', subject: 'before', at, until: new Date('9999-12-31T00:00:00Z') }
}
