import { createClientCache } from './caches/client-cache.ts'
import { createAuthorizationCodeCache } from './caches/code-cache.ts'
import { createConsentCache } from './caches/consent-cache.ts'
import { createLastUseRecorder } from './caches/last-use-recorder.ts'
import { PERSONAL_ACCESS_CLIENT_ID } from './clients/client.ts'
import { findScopeLimit } from './clients/self-registered.ts'
import { clientRequirements } from './clients/settings/demands.ts'
import { findLaterDate } from './clock.ts'
import type { InstalledFeatures, OfferedResponseType, ServerContext } from './context.ts'
import { createEmitter } from './events.ts'
import type { Feature } from './features/feature.ts'
import { createCookieMode } from './guard/cookie-mode.ts'
import { createScopeLimiters } from './guard/scope-limits.ts'
import { recordTokenUses, TOKEN_USE_RETRY_MS } from './guard/token-uses.ts'
import { createTokenVerifier } from './guard/verify.ts'
import { createKeyring } from './keys/keyring.ts'
import { createEncrypter } from './keys/seal.ts'
import { createSigningKeys } from './keys/signing-keys.ts'
import { createGuessingLimits } from './limits/guessing.ts'
import { createResourceLimits } from './limits/resources.ts'
import type { ResolvedOptions } from './options.ts'
import { createOutgoingRequests } from './outgoing/outgoing.ts'
import { followRevocations } from './revocations/feed.ts'
import { parseScope, resolveScopes } from './scopes.ts'
import { chooseFormat } from './tokens/formats/choose-format.ts'
import { createAccessTokens } from './tokens/formats/format.ts'
import { createRefreshTokens } from './tokens/formats/refresh-tokens.ts'
import { issueTokens } from './tokens/issue.ts'
import { revokeTokens } from './tokens/revoke.ts'
import { createUserExistenceCache } from './users/known-users.ts'
import { combineUserProviders } from './users/providers.ts'

/** Creates the internal parts of the server (caches, keys, limits and others) from its options. */
export function createContext(options: ResolvedOptions): ServerContext {
  const { storage, secrets, clock, issuer } = options
  const allResources = [options.resources.own, ...options.resources.others.values()]
  const feed = followRevocations(storage.revocations, options.logger, {
    storeTimeout: storage.timeout,
    afterCommit: storage.afterCommit,
  })
  const keyring = createKeyring(secrets)
  const keys = createSigningKeys({
    repository: storage.keys,
    secrets,
    keyring,
    algorithm: options.signingAlgorithm,
    algorithms: new Set([
      options.signingAlgorithm,
      ...options.features.flatMap(({ algorithms = [] }) => algorithms),
      ...allResources.map(({ algorithm }) => algorithm),
    ]),
    accessTokenTypes: [...new Set(['at+jwt', ...allResources.map(({ tokenType }) => tokenType)])],
    publishedAheadSeconds: options.keyPublishedAheadSeconds,
    latestExpiry: (now) => computeLatestExpiry(now, options),
    clock,
    logger: options.logger,
  })
  feed.onNotice('keys', keys.markOutdated)
  feed.onBreak(keys.markOutdated)
  feed.onSync(keys.reload)
  const { resources, accessTokenFormat } = options
  const findToken = (id: string) => storage.tokens.find(id)
  const accessTokens = createAccessTokens({
    issuer,
    findToken,
    personalAccessTokenPrefix: options.personalAccessTokenPrefix,
    ...chooseFormat({ keys, keyring, issuer, resources, accessTokenFormat, findToken }),
  })
  const knownUsers = createUserExistenceCache({
    providers: options.providers,
    logger: options.logger,
  })
  const { logger } = options
  const tokenVerifier = createTokenVerifier({
    accessTokens,
    keys,
    feed,
    knownUsers,
    issuer,
    audiences: new Set(allResources.map(({ audience }) => audience)),
    machineScopes: options.machineScopeNames,
    clock,
  })
  const verifier = recordTokenUses(tokenVerifier, {
    clientId: PERSONAL_ACCESS_CLIENT_ID,
    uses: createLastUseRecorder({
      subject: 'personal access token',
      recordUse: (...use) => storage.tokens.recordUse(...use),
      retryAfter: TOKEN_USE_RETRY_MS,
      clock,
      logger,
    }),
    afterCommit: storage.afterCommit,
  })
  const context: ServerContext = {
    options,
    issuer,
    clock,
    logger: options.logger,
    users: combineUserProviders(options.providers),
    providers: options.providers,
    scopes: options.scopes,
    storage,
    events: createEmitter(options.logger, storage.afterCommit),
    grants: new Map(options.grants.map((grant) => [grant.type, grant])),
    pagePaths: listPagePaths(options),
    responses: mapResponseTypes(options),
    features: sortFeatures(options.features),
    clients: createClientCache(storage.clients, {
      feed,
      clock,
      finders: options.features.flatMap((feature) =>
        feature.findClient
          ? [(id: string, within: ServerContext) => feature.findClient?.(id, within) ?? null]
          : [],
      ),
    }),
    clientUses: createLastUseRecorder({
      subject: 'client',
      recordUse: (...use) => storage.clients.recordUse(...use),
      retryAfter: 0,
      clock,
      logger,
    }),
    codes: createAuthorizationCodeCache(storage.codes),
    consents: createConsentCache(storage.consents),
    keys,
    keyring,
    clientSecrets: createEncrypter(secrets, 'client secrets'),
    outgoing: createOutgoingRequests(options.outgoing, clock),
    guessing: createGuessingLimits({ limits: storage.limits, clock }),
    resources: createResourceLimits({
      tickets: storage.tickets,
      limits: storage.limits,
      clock,
      logger: options.logger,
    }),
    network: null,
    accessTokens,
    refreshTokens: createRefreshTokens(keyring),
    verifier,
    knownUsers,
    feed,
    scopeLimiters: createScopeLimiters(options.logger),
    provenKey: null,
    cookies: createCookieMode({
      keyring,
      issuer,
      lifetimeSeconds: options.cookieSeconds,
      secure: options.issuerUrl.protocol === 'https:',
      clock,
      feed,
      knownUsers,
    }),
    resolveScopes: (text, client) =>
      resolveScopes(parseScope(text), {
        defined: options.scopeNames,
        client: findScopeLimit(client, options),
        wildcard: 'refused',
      }),
    issueTokens: (request) => issueTokens(request, context),
    verifyAccessToken: (text) => verifier.verify(text),
    revokeTokens: (selector) => revokeTokens(selector, context),
    userExists: (userId) => knownUsers.existsNow(userId),
  }
  return context
}

function sortFeatures(all: readonly Feature[]): InstalledFeatures {
  return {
    all,
    requestExpanders: all.filter((feature) => feature.expandRequest),
    requestReaders: all.filter((feature) => feature.readRequest),
    personCheckers: all.filter((feature) => feature.acceptsPerson),
    responseExtenders: all.filter((feature) => feature.extendTokenResponse),
    exchanges: new Map(all.flatMap(({ exchanges = {} }) => Object.entries(exchanges))),
    authenticators: all.flatMap(({ authentication }) => authentication ?? []),
    exclusiveAuthentication:
      all.find(({ authentication }) => authentication?.exclusive)?.authentication ?? null,
    sessionEnders: all.filter((feature) => feature.endSessions),
    deliverers: all.filter((feature) => feature.deliver),
    crossOrigin: all.find((feature) => feature.crossOrigin)?.crossOrigin ?? null,
    signInCheckers: all.filter((feature) => feature.acceptsSignIn),
    subjectNamers: all.filter((feature) => feature.subjectFor),
    introspections: all.filter((feature) => feature.introspection),
    keyProofs: all.find(({ keyProofs }) => keyProofs)?.keyProofs ?? null,
    addsSignInClaims: all.some(({ addsSignInClaims }) => addsSignInClaims),
    unenforcedSettings: clientRequirements.filter(
      (name) => !all.some(({ enforces }) => enforces?.includes(name)),
    ),
  }
}

function listPagePaths({ basePath, grants, features }: ResolvedOptions): ReadonlySet<string> {
  const routes = [...grants, ...features].flatMap((each) => each.routes ?? [])
  const pages = routes.filter(({ isPage }) => isPage).map(({ path }) => path)
  return new Set(['/authorize', ...pages].map((path) => `${basePath}${path}`))
}

function mapResponseTypes({
  grants,
  features,
}: ResolvedOptions): ReadonlyMap<string, OfferedResponseType> {
  const ofGrants = grants.flatMap(({ type, response }) =>
    response ? [{ grantType: type, response }] : [],
  )
  const offered = [...ofGrants, ...features.flatMap(({ responses = [] }) => responses)]
  return new Map(offered.map((each) => [each.response.type, each]))
}

function computeLatestExpiry(now: Date, options: ResolvedOptions): Date {
  const cookies = new Date(now.getTime() + options.cookieSeconds * 1000)
  const ends = [
    options.accessTokensExpireAt(now),
    options.refreshTokensExpireAt(now),
    options.personalAccessTokensExpireAt(now),
  ]
  return ends.reduce(findLaterDate, cookies)
}
