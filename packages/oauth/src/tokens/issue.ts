import { andThen, type Maybe } from '../awaitable.ts'
import { later } from '../clock.ts'
import type { ServerContext } from '../context.ts'
import { timeOrderedId } from '../crypto.ts'
import type { GrantType, TokenResponse } from '../grants/grant.ts'
import { secondsUntil } from '../lifetimes.ts'
import type { Client, Token } from '../storage/repositories.ts'
import type { SignInMark } from '../users/retry-if-signed-out.ts'

export interface IssueRequest {
  readonly client: Client
  readonly userId: string | null
  readonly scopes: readonly string[]
  readonly grantType: GrantType | 'personal_access'
  /** Whether this grant gives refresh tokens, where the server and the client have them at all. */
  readonly refreshable: boolean
  readonly id?: string
  readonly name?: string
}

/** The row of a new token; storing it is the caller's single write. */
export function buildToken(request: IssueRequest, context: ServerContext): Token {
  const { options, grants } = context
  const now = options.clock.now()
  const personal = request.grantType === 'personal_access'
  const expiresAt = (
    personal ? options.personalAccessTokensExpireAt : options.accessTokensExpireAt
  )(now)
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
  }
}

export async function issueTokens(
  request: IssueRequest,
  context: ServerContext,
): Promise<TokenResponse> {
  const token = buildToken(request, context)
  await context.storage.tokens.create(token)
  return handOver(token, context)
}

/**
 * Stores a token that rests on a sign-in. Null when the account was ended since the mark, perhaps by
 * another process: then the token is ended too. An end that commits after the store finds the row by
 * itself.
 */
export async function storeUnlessEnded(
  token: Token,
  mark: Pick<SignInMark, 'endings'>,
  context: ServerContext,
): Promise<Token | null> {
  await context.storage.tokens.create(token)
  const { userId } = token
  if (userId === null || !(await context.feed.endedMeanwhile(userId, mark.endings))) return token
  await context.storage.tokens.revoke({ id: token.id }, context.options.clock.now())
  return null
}

/** After the commit: the texts a client gets, and the events. A narrowed refresh passes its scopes. */
export function handOver(
  token: Token,
  context: ServerContext,
  scopes: readonly string[] = token.scopes,
): Maybe<TokenResponse> {
  return andThen(context.accessTokens.encode(token, scopes), (accessToken) => {
    announce(token, context)
    const { id: tokenId, generation, userId } = token
    const expiresIn = secondsUntil(token.expiresAt, context.options.clock)
    const scope = scopes.join(' ')
    if (!token.refreshExpiresAt || userId === null) {
      return { token_type: 'Bearer', expires_in: expiresIn, access_token: accessToken, scope }
    }
    context.events.emit('RefreshTokenCreated', {
      refreshTokenId: `${tokenId}.${generation}`,
      accessTokenId: tokenId,
    })
    return {
      token_type: 'Bearer',
      expires_in: expiresIn,
      access_token: accessToken,
      refresh_token: context.refreshTokens.format({ tokenId, generation, userId }),
      scope,
    }
  })
}

/** A token handed over in a redirect raises the same event as one from the token endpoint. */
export function announce(token: Token, context: ServerContext): void {
  context.events.emit('AccessTokenCreated', {
    tokenId: token.id,
    userId: token.userId,
    clientId: token.clientId,
  })
}
