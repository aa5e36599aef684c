import type { ClientCache } from './caches/client-cache.ts'
import type { CodeCache } from './caches/code-cache.ts'
import type { ConsentCache } from './caches/consent-cache.ts'
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

/** A response type, and the grant that a client needs for it. */
export interface OfferedResponse {
  readonly grantType: string
  readonly response: AuthorizationResponse
}

/** The features that are switched on, by what they do: what nobody does costs nothing. */
export interface Features {
  readonly all: readonly Feature[]
  readonly requestExpanders: readonly Feature[]
  readonly requestReaders: readonly Feature[]
  readonly personCheckers: readonly Feature[]
  readonly responseExtenders: readonly Feature[]
  /** Tokens beside access tokens, by their `requested_token_type`. */
  readonly exchanges: ReadonlyMap<string, TokenIssuer>
  readonly authenticators: readonly ClientAuthentication[]
  /** The only one that clients may prove themselves by; null where secrets and public clients are taken. */
  readonly soleAuthenticator: ClientAuthentication | null
  readonly sessionEnders: readonly Feature[]
  readonly deliverers: readonly Feature[]
  readonly crossOrigin: CrossOriginPolicy | null
  readonly signInCheckers: readonly Feature[]
  readonly subjectNamers: readonly Feature[]
  readonly introspections: readonly Feature[]
  readonly keyProofs: KeyProofs | null
  readonly tellsSignIn: boolean
  /** Settings of clients that nobody here enforces. */
  readonly unmetDemands: readonly ClientDemand[]
}

/**
 * Made once by createAuthorizationServer() and handed down; nothing below reaches back up. A grant gets
 * it as well: those of this package use all of it, others what `GrantContext` tells them of.
 */
export interface ServerContext extends GrantContext {
  readonly options: ResolvedOptions
  readonly features: Features
  readonly grants: ReadonlyMap<string, Grant>
  /** Where people look at what goes wrong. */
  readonly pagePaths: ReadonlySet<string>
  readonly responses: ReadonlyMap<string, OfferedResponse>
  readonly clients: ClientCache<ServerContext>
  readonly codes: CodeCache
  readonly consents: ConsentCache
  readonly keys: SigningKeys
  readonly keyring: Keyring
  /** Of secrets that have to be read again, which only some clients have. */
  readonly clientSecrets: Seal
  readonly accessTokens: AccessTokens
  readonly refreshTokens: RefreshTokens
  readonly verifier: TokenVerifier
  readonly knownUsers: KnownUsers
  readonly feed: RevocationFeed
  readonly cookies: CookieMode
  /** Requests to addresses that clients have told us. */
  readonly outgoing: Outgoing
  /** The rule for what can be guessed. */
  readonly guessing: GuessingLimits
  /** The rule for what strangers make us do or store. */
  readonly resources: ResourceLimits
  /** The network that the request under way came from; null where it is not known. */
  readonly network: string | null
  /** The thumbprint of the key that the request under way has proven to hold: see tokens/proven-key.ts. */
  readonly provenKey: string | null
}
