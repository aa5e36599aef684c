import type { ClientDirectory } from './caches/client-cache.ts'
import type { CodeDirectory } from './caches/code-cache.ts'
import type { ConsentDirectory } from './caches/consent-cache.ts'
import type { Emitter } from './events.ts'
import type { AuthorizationResponse, Grant } from './grants/grant.ts'
import type { CookieMode } from './guard/cookie-mode.ts'
import type { TokenVerifier } from './guard/verify.ts'
import type { Keyring } from './keys/keyring.ts'
import type { SigningKeys } from './keys/signing-keys.ts'
import type { ResolvedOptions } from './options.ts'
import type { RevocationFeed } from './revocations/feed.ts'
import type { Storage } from './storage/repositories.ts'
import type { AccessTokenFormat } from './tokens/formats/format.ts'
import type { RefreshTokens } from './tokens/formats/refresh-tokens.ts'
import type { KnownUsers } from './users/known-users.ts'

/** Made once by createAuthorizationServer() and handed down; nothing below reaches back up. */
export interface ServerContext {
  readonly options: ResolvedOptions
  readonly storage: Storage
  readonly grants: ReadonlyMap<string, Grant>
  readonly responses: ReadonlyMap<string, AuthorizationResponse>
  readonly clients: ClientDirectory
  readonly codes: CodeDirectory
  readonly consents: ConsentDirectory
  readonly keys: SigningKeys
  readonly keyring: Keyring
  readonly accessTokens: AccessTokenFormat
  readonly refreshTokens: RefreshTokens
  readonly verifier: TokenVerifier
  readonly knownUsers: KnownUsers
  readonly feed: RevocationFeed
  readonly cookies: CookieMode
  readonly events: Emitter
}
