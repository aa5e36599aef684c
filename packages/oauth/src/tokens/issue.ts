import { type Awaitable, mapAwaitable } from '../awaitable.ts'
import { latestFor } from '../clients/self-registered.ts'
import { isAfter, later } from '../clock.ts'
import type { ServerContext } from '../context.ts'
import { signingAlgorithms, timeOrderedId } from '../crypto.ts'
import { InvalidGrant } from '../errors.ts'
import type { IssuedToken } from '../features/feature.ts'
import type { IssueRequest, TokenResponse } from '../grants/grant.ts'
import { secondsUntil, wholeSecond } from '../lifetimes.ts'
import { findResource } from '../resources/requested.ts'
import type { GrantDetails } from '../storage/details.ts'
import type { Client, Token } from '../storage/records.ts'
import type { SignInMark } from '../users/retry-if-signed-out.ts'
import { readAddedClaims } from './added-claims.ts'
import type { TokenShare } from './formats/format.ts'

export interface TokenRequest extends IssueRequest {
  /** Where it was decided before, as for a code. */
  readonly id?: string
  /** Of a personal access token. */
  readonly name?: string
}

/**
 * The row of a new token, with what the application adds to it. Storing it is the caller's single write. `share` is
 * what the first access token is for.
 */
export async function prepareToken(
  request: TokenRequest,
  context: ServerContext,
  share: TokenShare = { scopes: request.scopes, resources: request.details?.resources },
): Promise<Token> {
  const token = buildToken(request, context)
  if (context.options.accessTokenClaims === null) return token
  return { ...token, details: await detailsWithClaims(token, request.client, context, share) }
}

/** The details of a row whose next access token is for `share`, with the application's claims for it. */
export async function detailsWithClaims(
  token: Token,
  client: Client,
  context: ServerContext,
  share: TokenShare,
): Promise<GrantDetails> {
  const added = await readAddedClaims({ ...token, client }, share, context)
  return { ...token.details, ...(added && { added }) }
}

function buildToken(request: TokenRequest, context: ServerContext): Token {
  const { options, grants } = context
  const now = options.clock.now()
  const personal = request.grantType === 'personal_access'
  const expire = personal ? options.personalAccessTokensExpireAt : options.accessTokensExpireAt
  const expiresAt = latestFor(request.client, soonest(expire(now), request.expiresAt), now)
  const refreshable =
    request.refreshable &&
    request.userId !== null &&
    grants.has('refresh_token') &&
    request.client.grantTypes.includes('refresh_token')
  const refreshExpiresAt = refreshable ? options.refreshTokensExpireAt(now) : null
  return {
    id: request.id ?? timeOrderedId(now),
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
    liveUntil: refreshExpiresAt ? later(refreshExpiresAt, expiresAt) : expiresAt,
    revokedAt: null,
    createdAt: now,
    details: detailsOf(request, context),
  }
}

/** With what the client wants of its tokens. */
function detailsOf(
  { client: { settings }, details = null, refreshable }: TokenRequest,
  { provenKey, features: { keyProofs } }: ServerContext,
): GrantDetails | null {
  // Its holder must not learn who the person is to others.
  const opaque = settings.subject_type === 'pairwise'
  const wished = settings.access_token_signed_response_alg
  const signedWith = wished && signingAlgorithms.find((name) => name === wished)
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

/** In whole seconds, as `exp` has them. Nothing may outlive what the server was set up for. */
function soonest(latest: Date, wanted: Date = latest): Date {
  return isAfter(latest, wanted) ? wholeSecond(wanted.getTime()) : latest
}

export async function issueTokens(
  request: IssueRequest,
  context: ServerContext,
): Promise<TokenResponse> {
  await context.clock.check?.()
  const token = await prepareToken(request, context)
  const { signOutMark } = request
  if (signOutMark === undefined) await context.storage.tokens.create(token)
  else if (!(await storeUnlessSignedOut(token, { signOutMark }, context))) throw signedOut()
  return createTokenResponse(token, context)
}

/**
 * Stores a token that rests on a sign-in. Null when the person was signed out everywhere since the mark,
 * perhaps by another process: then the token is ended too. A sign-out that commits after the store finds
 * the row by itself.
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

/** All that a row grants. */
export function wholeShare({ scopes, details }: Token): TokenShare {
  return { scopes, resources: details?.resources }
}

/** After the commit: the texts a client gets, and the events. Whoever asked for less says what for. */
export function createTokenResponse(
  row: Token,
  context: ServerContext,
  share: TokenShare = wholeShare(row),
): Awaitable<TokenResponse> {
  const token = withKey(shortened(row, share.resources, context), context.provenKey)
  const { scopes } = share
  return mapAwaitable(context.accessTokens.encode(token, share), (accessToken) => {
    emitTokenCreated(token, context)
    const response = plainResponse(token, { accessToken, scope: scopes.join(' ') }, context)
    const { responseExtenders } = context.features
    if (token.details === null || responseExtenders.length === 0) return response
    return extended(response, { token, scopes, accessToken }, context)
  })
}

/** With what the features add to it. */
async function extended(
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

/** RFC 9449 §5: a client that has proven itself may go on with another key than the row began with. */
function withKey(token: Token, key: string | null): Token {
  if (key === null || token.details?.dpopKey === key) return token
  return { ...token, details: { ...token.details, dpopKey: key } }
}

/** An API may want tokens that live for a shorter time than those of the server. */
export function shortened(
  token: Token,
  uris: readonly string[] | undefined,
  { options: { resources: known } }: ServerContext,
): Token {
  // Personal ones have a lifetime of their own.
  if (!uris && (known.own.expireAt === null || token.grantType === 'personal_access')) return token
  const ends = (uris ?? [known.own.uri]).flatMap((uri) => {
    const expireAt = findResource(uri, known)?.expireAt
    return expireAt ? [expireAt(token.issuedAt)] : []
  })
  return { ...token, expiresAt: ends.reduce(soonest, token.expiresAt) }
}

/** RFC 6749 §5.1, before features add to it; with a refresh token where the row has one. */
function plainResponse(
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
  // One that is kept was told of when it was made.
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

/** The generation that the refresh token of a row names: the row counts the access tokens of one that is kept. */
function refreshGenerationOf({ generation, details }: Token): number {
  return details?.keepsRefreshToken ? 0 : generation
}

/** For every token that a client gets, from the token endpoint or in a redirect. */
export function emitTokenCreated(token: Token, context: ServerContext): void {
  context.events.emit('AccessTokenCreated', {
    tokenId: token.id,
    userId: token.userId,
    clientId: token.clientId,
  })
}

function signedOut(): InvalidGrant {
  return new InvalidGrant('The user was signed out everywhere meanwhile')
}
