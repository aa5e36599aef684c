import { type Awaitable, mapAwaitable } from '../awaitable.ts'
import { limitSelfRegisteredExpiry } from '../clients/self-registered.ts'
import { findLaterDate, isAfter } from '../clock.ts'
import type { ServerContext } from '../context.ts'
import { createTimeOrderedId, signingAlgorithms } from '../crypto.ts'
import { InvalidGrant } from '../errors.ts'
import type { IssuedToken } from '../features/feature.ts'
import type { TokenIssueRequest, TokenResponse } from '../grants/grant.ts'
import { floorToSecond, secondsUntil } from '../lifetimes.ts'
import { findResource } from '../resources/requested.ts'
import type { GrantDetails } from '../storage/details.ts'
import type { Client, Token } from '../storage/records.ts'
import { clientServesUser } from '../users/providers.ts'
import type { SignInMark } from '../users/retry-if-signed-out.ts'
import { readAddedClaims } from './added-claims.ts'
import { findEffectiveScopes } from './effective-scopes.ts'
import type { TokenAccess } from './formats/format.ts'

export interface TokenRequest extends TokenIssueRequest {
  /** Id of the new token if it was chosen earlier, as for authorization codes. */
  readonly id?: string
  /** Name of a personal access token. */
  readonly name?: string
}

/**
 * Builds a new token with the claims that the application adds, without storing it. `share`
 * contains the scopes and APIs of the first access token.
 * @throws InvalidGrant if the client does not serve users of this user's provider
 */
export async function prepareToken(
  request: TokenRequest,
  context: ServerContext,
  share: TokenAccess = { scopes: request.scopes, resources: request.details?.resources },
): Promise<Token> {
  const token = buildToken(request, context)
  if (context.options.accessTokenClaims === null) return token
  return { ...token, details: await buildDetailsWithClaims(token, request.client, context, share) }
}

/**
 * Builds the details of a token with the claims that the application adds to its next access token.
 * `share` contains the scopes and APIs of that access token.
 */
export async function buildDetailsWithClaims(
  token: Token,
  client: Client,
  context: ServerContext,
  share: TokenAccess,
): Promise<GrantDetails> {
  const added = await readAddedClaims({ ...token, client }, share, context)
  return { ...token.details, ...(added && { added }) }
}

/**
 * Rejects tokens for users that the client does not serve. The last check, common to all grants.
 */
function requireOwner({ client, userId }: TokenRequest, { providers }: ServerContext): void {
  if (userId === null) return
  providers.require(userId)
  if (!clientServesUser(client, userId, providers)) {
    throw new InvalidGrant('The client does not serve users of this provider')
  }
}

function buildToken(request: TokenRequest, context: ServerContext): Token {
  requireOwner(request, context)
  const { options, grants } = context
  const now = options.clock.now()
  const personal = request.grantType === 'personal_access'
  const expire = personal ? options.personalAccessTokensExpireAt : options.accessTokensExpireAt
  const expiresAt = limitSelfRegisteredExpiry(
    request.client,
    limitExpiryToLifetime(expire(now), request.expiresAt),
    now,
  )
  const refreshable =
    request.refreshable &&
    request.userId !== null &&
    grants.has('refresh_token') &&
    request.client.grantTypes.includes('refresh_token')
  const refreshExpiresAt = refreshable ? options.refreshTokensExpireAt(now) : null
  return {
    id: request.id ?? createTimeOrderedId(now),
    clientId: request.client.id,
    userId: request.userId,
    grantType: request.grantType,
    name: request.name ?? null,
    scopes: request.scopes,
    generation: 0,
    clientSecretVersion: request.client.secretVersion,
    issuedAt: now,
    expiresAt,
    refreshExpiresAt,
    previousExpiresAt: null,
    lateGeneration: null,
    liveUntil: refreshExpiresAt ? findLaterDate(refreshExpiresAt, expiresAt) : expiresAt,
    revokedAt: null,
    createdAt: now,
    lastUsedAt: null,
    details: buildDetails(request, context),
  }
}

/** Builds the details of a token, including the client's own settings for its tokens. */
function buildDetails(
  { client: { settings }, details = null, refreshable }: TokenRequest,
  { provenKey, features: { keyProofs } }: ServerContext,
): GrantDetails | null {
  // A JWT would reveal the real user id to a client with pairwise subjects.
  const opaque = settings.subject_type === 'pairwise'
  const requestedAlgorithm = settings.access_token_signed_response_alg
  const signedWith =
    requestedAlgorithm && signingAlgorithms.find((name) => name === requestedAlgorithm)
  if (!opaque && !signedWith && provenKey === null) return details
  const keepsRefreshToken = refreshable && keyProofs?.rotatesRefreshTokens === false
  return {
    ...details,
    ...(opaque && { opaque }),
    ...(signedWith && { signedWith }),
    ...(provenKey !== null && { dpopKey: provenKey }),
    ...(provenKey !== null && keepsRefreshToken && { keepsRefreshToken }),
  }
}

/** Limits an expiry to the configured lifetime, in whole seconds as in `exp`. */
function limitExpiryToLifetime(latest: Date, requestedExpiry: Date = latest): Date {
  return isAfter(latest, requestedExpiry) ? floorToSecond(requestedExpiry.getTime()) : latest
}

export async function issueTokens(
  request: TokenIssueRequest,
  context: ServerContext,
): Promise<TokenResponse> {
  await context.clock.check?.()
  const token = await prepareToken(request, context)
  const { signOutMark } = request
  if (signOutMark === undefined) await context.storage.tokens.create(token)
  else if (!(await storeUnlessSignedOut(token, { signOutMark }, context)))
    throw createSignedOutError()
  return createTokenResponse(token, context)
}

/**
 * Stores a token that depends on a sign-in. Returns `null` and revokes the token if the user was
 * signed out everywhere since `mark` was taken, possibly by another process.
 */
export async function storeUnlessSignedOut(
  token: Token,
  mark: Pick<SignInMark, 'signOutMark'>,
  context: ServerContext,
): Promise<Token | null> {
  await context.storage.tokens.create(token)
  const { userId } = token
  if (userId === null || !(await context.feed.signedOutSince(userId, mark.signOutMark)))
    return token
  await context.storage.tokens.revoke({ id: token.id }, context.clock.now())
  return null
}

/** Returns all scopes and APIs of a grant. */
export function getFullAccessOfToken({ scopes, details }: Token): TokenAccess {
  return { scopes, resources: details?.resources }
}

/**
 * Builds the response of the token endpoint and emits the events. Call it after the token is
 * stored. `share` contains the scopes and APIs of the access token.
 */
export function createTokenResponse(
  row: Token,
  context: ServerContext,
  share: TokenAccess = getFullAccessOfToken(row),
): Awaitable<TokenResponse> {
  const token = withKey(limitToResourceLifetime(row, share.resources, context), context.provenKey)
  const { scopes } = share
  return mapAwaitable(context.accessTokens.encode(token, share), (accessToken) => {
    emitTokenCreated(token, context)
    const response = buildBaseResponse(token, { accessToken, scope: scopes.join(' ') }, context)
    const { responseExtenders } = context.features
    const isPlain = token.details === null || responseExtenders.length === 0
    const complete = isPlain
      ? response
      : extendResponse(response, { token, scopes, accessToken }, context)
    if (context.scopeLimiters.isEmpty) return complete
    return reportEffectiveScopes(complete, token, scopes, context)
  })
}

/** Replaces `scope` in a token response if limits withhold scopes of the access token. */
async function reportEffectiveScopes(
  response: Awaitable<TokenResponse>,
  token: Token,
  scopes: readonly string[],
  context: ServerContext,
): Promise<TokenResponse> {
  const complete = await response
  return { ...complete, scope: (await findEffectiveScopes(token, scopes, context)).join(' ') }
}

/** Adds the members of features to a token response, such as `id_token`. */
async function extendResponse(
  response: TokenResponse,
  issued: IssuedToken,
  context: ServerContext,
): Promise<TokenResponse> {
  const extensions = await Promise.all(
    context.features.responseExtenders.map((feature) =>
      feature.extendTokenResponse?.(issued, context),
    ),
  )
  return Object.assign({}, response, ...extensions)
}

/**
 * Binds the access token to the proven key, which may differ from the key of earlier tokens of the
 * row (RFC 9449 §5).
 */
function withKey(token: Token, key: string | null): Token {
  if (key === null || token.details?.dpopKey === key) return token
  return { ...token, details: { ...token.details, dpopKey: key } }
}

/** Shortens the lifetime of an access token to that of the APIs it is for. */
export function limitToResourceLifetime(
  token: Token,
  uris: readonly string[] | undefined,
  { options: { resources: known } }: ServerContext,
): Token {
  // Personal access tokens have a lifetime setting of their own.
  if (!uris && (known.own.expireAt === null || token.grantType === 'personal_access')) return token
  const ends = (uris ?? [known.own.uri]).flatMap((uri) => {
    const expireAt = findResource(uri, known)?.expireAt
    return expireAt ? [expireAt(token.issuedAt)] : []
  })
  return { ...token, expiresAt: ends.reduce(limitExpiryToLifetime, token.expiresAt) }
}

/**
 * Builds the token response (RFC 6749 §5.1) without the members of features, and with a refresh
 * token if the row has one.
 */
function buildBaseResponse(
  token: Token,
  { accessToken, scope }: { readonly accessToken: string; readonly scope: string },
  context: ServerContext,
): TokenResponse {
  const { id: tokenId, userId } = token
  const expiresIn = secondsUntil(token.expiresAt, context.clock)
  const type = token.details?.dpopKey === undefined ? 'Bearer' : 'DPoP'
  if (!token.refreshExpiresAt || userId === null) {
    return { token_type: type, expires_in: expiresIn, access_token: accessToken, scope }
  }
  const generation = refreshGenerationOf(token)
  // A refresh token that is never rotated was announced when it was created.
  if (generation === token.generation) {
    context.events.emit('RefreshTokenCreated', {
      refreshTokenId: `${tokenId}.${generation}`,
      accessTokenId: tokenId,
    })
  }
  return {
    token_type: type,
    expires_in: expiresIn,
    access_token: accessToken,
    refresh_token: context.refreshTokens.format({ tokenId, generation, userId }),
    scope,
  }
}

/**
 * Returns the generation in the refresh token. It stays 0 for a refresh token that is never
 * rotated: the generation of its row then counts only access tokens.
 */
function refreshGenerationOf({ generation, details }: Token): number {
  return details?.keepsRefreshToken ? 0 : generation
}

/**
 * Emits `AccessTokenCreated`. Call it for every access token that a client gets, whether from the
 * token endpoint or in a redirect.
 */
export function emitTokenCreated(token: Token, context: ServerContext): void {
  context.events.emit('AccessTokenCreated', {
    tokenId: token.id,
    userId: token.userId,
    clientId: token.clientId,
  })
}

function createSignedOutError(): InvalidGrant {
  return new InvalidGrant('The user has been signed out everywhere in the meantime')
}
