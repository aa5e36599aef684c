import { createClientDirectory } from './caches/client-cache.ts'
import { createCodeDirectory } from './caches/code-cache.ts'
import { createConsentDirectory } from './caches/consent-cache.ts'
import { later } from './clock.ts'
import type { ServerContext } from './context.ts'
import { createEmitter } from './events.ts'
import type { AuthorizationResponse } from './grants/grant.ts'
import { createCookieMode } from './guard/cookie-mode.ts'
import { createTokenVerifier } from './guard/verify.ts'
import { createKeyring } from './keys/keyring.ts'
import { createSigningKeys } from './keys/signing-keys.ts'
import type { ResolvedOptions } from './options.ts'
import { followRevocations } from './revocations/feed.ts'
import { createAccessTokenFormat } from './tokens/formats/format.ts'
import { createRefreshTokens } from './tokens/formats/refresh-tokens.ts'
import { createKnownUsers } from './users/known-users.ts'

/** Puts the parts together; each gets only what it needs. */
export function createContext(options: ResolvedOptions): ServerContext {
  const { storage, secrets, clock, issuer, audience } = options
  const feed = followRevocations(storage.revocations, options.logger)
  const keyring = createKeyring(secrets)
  const keys = createSigningKeys({
    repository: storage.keys,
    secrets,
    keyring,
    algorithm: options.signingAlgorithm,
    publishedAheadSeconds: options.keyPublishedAheadSeconds,
    lastLife: (now) => lastLife(now, options),
    clock,
    logger: options.logger,
  })
  feed.onNotice('keys', keys.expectChange)
  feed.onBreak(keys.expectChange)
  feed.onSync(keys.reload)
  const accessTokens = createAccessTokenFormat(options.accessTokenFormat, {
    keys,
    keyring,
    server: { issuer, audience },
    find: (id) => storage.tokens.find(id),
  })
  const knownUsers = createKnownUsers({ users: options.users, logger: options.logger })
  const responses = options.grants.flatMap(({ response }) => (response ? [response] : []))
  return {
    options,
    storage,
    grants: new Map(options.grants.map((grant) => [grant.type, grant])),
    responses: new Map<string, AuthorizationResponse>(responses.map((r) => [r.type, r])),
    clients: createClientDirectory(storage.clients, feed),
    codes: createCodeDirectory(storage.codes),
    consents: createConsentDirectory(storage.consents),
    keys,
    keyring,
    accessTokens,
    refreshTokens: createRefreshTokens(keyring),
    verifier: createTokenVerifier({
      format: accessTokens,
      keys,
      feed,
      knownUsers,
      issuer,
      audience,
      clock,
    }),
    knownUsers,
    feed,
    cookies: createCookieMode({
      keyring,
      issuer,
      lifetimeSeconds: options.cookieSeconds,
      secure: options.issuerUrl.protocol === 'https:',
      clock,
      feed,
      knownUsers,
    }),
    events: createEmitter(options.logger),
  }
}

function lastLife(now: Date, options: ResolvedOptions): Date {
  const cookies = new Date(now.getTime() + options.cookieSeconds * 1000)
  const ends = [
    options.accessTokensExpireAt(now),
    options.refreshTokensExpireAt(now),
    options.personalAccessTokensExpireAt(now),
  ]
  return ends.reduce(later, cookies)
}
