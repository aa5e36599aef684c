import type { ClientCache } from './caches/client-cache.ts'
import type { AuthorizationCodeCache } from './caches/code-cache.ts'
import type { ConsentCache } from './caches/consent-cache.ts'
import type { LastUseRecorder } from './caches/last-use-recorder.ts'
import type {
  ClientAuthentication,
  CrossOriginPolicy,
  Feature,
  KeyProofSupport,
  TokenIssuer,
} from './features/feature.ts'
import type { AuthorizationResponse, Grant, GrantContext } from './grants/grant.ts'
import type { CookieMode } from './guard/cookie-mode.ts'
import type { ScopeLimiters } from './guard/scope-limits.ts'
import type { RecordingVerifier } from './guard/token-uses.ts'
import type { DerivedKeyring } from './keys/keyring.ts'
import type { TextEncrypter } from './keys/seal.ts'
import type { SigningKeys } from './keys/signing-keys.ts'
import type { GuessingLimits } from './limits/guessing.ts'
import type { ResourceLimits } from './limits/resources.ts'
import type { ResolvedOptions } from './options.ts'
import type { OutgoingRequests } from './outgoing/outgoing.ts'
import type { RevocationFeed } from './revocations/feed.ts'
import type { ClientRequirement } from './storage/client-settings.ts'
import type { AccessTokens } from './tokens/formats/format.ts'
import type { RefreshTokens } from './tokens/formats/refresh-tokens.ts'
import type { UserExistenceCache } from './users/known-users.ts'
import type { UserProviders } from './users/providers.ts'

/** A response type, and the grant type that a client must hold to use it. */
export interface OfferedResponseType {
  readonly grantType: string
  readonly response: AuthorizationResponse
}

/**
 * The capabilities of all enabled features, grouped by kind when the server is created. A kind that
 * no feature has costs nothing per request.
 */
export interface InstalledFeatures {
  readonly all: readonly Feature[]
  readonly requestExpanders: readonly Feature[]
  readonly requestReaders: readonly Feature[]
  readonly personCheckers: readonly Feature[]
  readonly responseExtenders: readonly Feature[]
  /** Issuers of tokens other than access tokens, by `requested_token_type`. */
  readonly exchanges: ReadonlyMap<string, TokenIssuer>
  readonly authenticators: readonly ClientAuthentication[]
  /**
   * The feature whose client authentication methods are the only ones accepted. `null` if client
   * secrets and public clients are accepted too.
   */
  readonly exclusiveAuthentication: ClientAuthentication | null
  readonly sessionEnders: readonly Feature[]
  readonly deliverers: readonly Feature[]
  readonly crossOrigin: CrossOriginPolicy | null
  readonly signInCheckers: readonly Feature[]
  readonly subjectNamers: readonly Feature[]
  readonly introspections: readonly Feature[]
  readonly keyProofs: KeyProofSupport | null
  readonly addsSignInClaims: boolean
  /** Client settings that no enabled feature enforces. Clients with one of them are rejected. */
  readonly unenforcedSettings: readonly ClientRequirement[]
}

/**
 * The parts of a running server. `createAuthorizationServer()` creates it once and passes it down.
 * Grants and features receive it too: those of this package use all of it, others only the members
 * of `GrantContext`.
 */
export interface ServerContext extends GrantContext {
  readonly options: ResolvedOptions
  readonly features: InstalledFeatures
  readonly grants: ReadonlyMap<string, Grant>
  /**
   * Paths that people open in a browser. Errors at these paths are shown as a page instead of JSON.
   */
  readonly pagePaths: ReadonlySet<string>
  readonly responses: ReadonlyMap<string, OfferedResponseType>
  readonly clientUses: LastUseRecorder
  readonly clients: ClientCache<ServerContext>
  readonly codes: AuthorizationCodeCache
  readonly consents: ConsentCache
  readonly keys: SigningKeys
  readonly keyring: DerivedKeyring
  /**
   * Encrypts the client secrets that the server must be able to read again, those of clients with
   * `client_secret_jwt`. For all other clients only a hash is stored.
   */
  readonly clientSecrets: TextEncrypter
  readonly accessTokens: AccessTokens
  readonly refreshTokens: RefreshTokens
  readonly verifier: RecordingVerifier
  readonly knownUsers: UserExistenceCache
  readonly providers: UserProviders
  readonly feed: RevocationFeed
  readonly cookies: CookieMode
  /** Decide what users and clients may do beyond the scopes of their tokens. */
  readonly scopeLimiters: ScopeLimiters
  /** Sends requests to client-supplied URLs. */
  readonly outgoing: OutgoingRequests
  /** Limits failed attempts to guess passwords and user codes. */
  readonly guessing: GuessingLimits
  /**
   * Limits how many requests unauthenticated callers may send, and how much data is stored for
   * them.
   */
  readonly resources: ResourceLimits
  /** The network that the current request came from. `null` if it is unknown. */
  readonly network: string | null
  /**
   * Thumbprint of the key that the current request has proven to hold, by a DPoP proof. `null`
   * without a proof.
   */
  readonly provenKey: string | null
}
