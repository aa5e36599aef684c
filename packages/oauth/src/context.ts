import type { ClientCache } from './caches/client-cache.ts'
import type { CodeCache } from './caches/code-cache.ts'
import type { ConsentCache } from './caches/consent-cache.ts'
import type { ClientUses } from './clients/last-use.ts'
import type {
  ClientAuthentication,
  CrossOriginPolicy,
  Feature,
  KeyProofs,
  TokenIssuer,
} from './features/feature.ts'
import type { AuthorizationResponse, Grant, GrantContext } from './grants/grant.ts'
import type { CookieMode } from './guard/cookie-mode.ts'
import type { TokenVerifier } from './guard/verify.ts'
import type { Keyring } from './keys/keyring.ts'
import type { Seal } from './keys/seal.ts'
import type { SigningKeys } from './keys/signing-keys.ts'
import type { GuessingLimits } from './limits/guessing.ts'
import type { ResourceLimits } from './limits/resources.ts'
import type { ResolvedOptions } from './options.ts'
import type { Outgoing } from './outgoing/outgoing.ts'
import type { RevocationFeed } from './revocations/feed.ts'
import type { ClientDemand } from './storage/client-settings.ts'
import type { AccessTokens } from './tokens/formats/format.ts'
import type { RefreshTokens } from './tokens/formats/refresh-tokens.ts'
import type { KnownUsers } from './users/known-users.ts'
import type { UserProviders } from './users/providers.ts'

/** A response type, and the grant type that a client must hold to use it. */
export interface OfferedResponse {
  readonly grantType: string
  readonly response: AuthorizationResponse
}

/**
 * The enabled features, sorted by capability when the server is created, so that an unused
 * capability costs nothing per request.
 */
export interface Features {
  readonly all: readonly Feature[]
  readonly requestExpanders: readonly Feature[]
  readonly requestReaders: readonly Feature[]
  readonly personCheckers: readonly Feature[]
  readonly responseExtenders: readonly Feature[]
  /** Issuers of tokens other than access tokens, by `requested_token_type`. */
  readonly exchanges: ReadonlyMap<string, TokenIssuer>
  readonly authenticators: readonly ClientAuthentication[]
  /**
   * The only client authentication allowed. `null` if client secrets and public clients are
   * accepted.
   */
  readonly exclusiveAuthentication: ClientAuthentication | null
  readonly sessionEnders: readonly Feature[]
  readonly deliverers: readonly Feature[]
  readonly crossOrigin: CrossOriginPolicy | null
  readonly signInCheckers: readonly Feature[]
  readonly subjectNamers: readonly Feature[]
  readonly introspections: readonly Feature[]
  readonly keyProofs: KeyProofs | null
  readonly addsSignInClaims: boolean
  /** Client settings that no enabled feature enforces. Clients with one of them are rejected. */
  readonly unenforcedSettings: readonly ClientDemand[]
}

/**
 * The parts of a running server. `createAuthorizationServer()` creates it once and passes it down.
 * Grants and features receive it too: those of this package use all of it, others only the members
 * of `GrantContext`.
 */
export interface ServerContext extends GrantContext {
  readonly options: ResolvedOptions
  readonly features: Features
  readonly grants: ReadonlyMap<string, Grant>
  /** Paths that people open in a browser; errors there are shown as a page. */
  readonly pagePaths: ReadonlySet<string>
  readonly responses: ReadonlyMap<string, OfferedResponse>
  readonly clientUses: ClientUses
  readonly clients: ClientCache<ServerContext>
  readonly codes: CodeCache
  readonly consents: ConsentCache
  readonly keys: SigningKeys
  readonly keyring: Keyring
  /**
   * Encrypts the client secrets that the server must be able to read again. Only some clients have
   * one.
   */
  readonly clientSecrets: Seal
  readonly accessTokens: AccessTokens
  readonly refreshTokens: RefreshTokens
  readonly verifier: TokenVerifier
  readonly knownUsers: KnownUsers
  readonly providers: UserProviders
  readonly feed: RevocationFeed
  readonly cookies: CookieMode
  /** Sends requests to client-supplied URLs. */
  readonly outgoing: Outgoing
  /** Limits attempts to guess passwords and codes. */
  readonly guessing: GuessingLimits
  /** Limits the work and the storage that unauthenticated callers can cause. */
  readonly resources: ResourceLimits
  /** The network that the current request came from. `null` if it is unknown. */
  readonly network: string | null
  /**
   * Thumbprint of the key whose possession the current request has proven (see
   * tokens/proven-key.ts). `null` if none.
   */
  readonly provenKey: string | null
}
