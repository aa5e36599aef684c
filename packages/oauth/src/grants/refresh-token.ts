import { latestFor } from '../clients/self-registered.ts'
import type { ServerContext } from '../context.ts'
import { InvalidGrant, TemporarilyUnavailable } from '../errors.ts'
import { type Form, requireParam } from '../http/form.ts'
import { parseScope, resolveScopes } from '../scopes.ts'
import type { GrantDetails } from '../storage/details.ts'
import type { Client, Rotation, Token } from '../storage/records.ts'
import { endedByRotation } from '../storage/rotated-token.ts'
import type { TokenShare } from '../tokens/formats/format.ts'
import type { RefreshTokenContent } from '../tokens/formats/refresh-tokens.ts'
import { createTokenResponse, detailsWithClaims } from '../tokens/issue.ts'
import { revokeTokens } from '../tokens/revoke.ts'
import type { Grant } from './grant.ts'
import { decideRefresh, isAlive, type LateWindows } from './refresh-decision.ts'
import { parseLateWindows, type RefreshTokenOptions } from './refresh-token-options.ts'
import { shareOfGrant } from './requested-resources.ts'

/** Each look at the row that led to nothing means that somebody else was faster. */
const MOST_LOOKS = 5

interface Presentation {
  readonly content: RefreshTokenContent
  readonly client: Client
  readonly late: LateWindows
  /** Whether the access token before ends. */
  readonly endsBefore: boolean
  /** What the row's details become, where the application adds claims. */
  readonly details?: GrantDetails
}

/** RFC 6749 §6 with rotation and reuse detection as RFC 9700 §4.14.2 asks. */
export function refreshToken(options: RefreshTokenOptions = {}): Grant {
  const late = parseLateWindows(options)
  const endsBefore = options.endsOldAccessToken ?? false
  return {
    type: 'refresh_token',
    async exchange({ client, params }, context: ServerContext) {
      const content = context.refreshTokens.parse(requireParam(params, 'refresh_token'))
      // What this process knows to be revoked stays so, even if the database forgot it in a failover.
      if (!content || context.feed.isRevoked('token', content.tokenId)) throw refused()
      const requested = parseScope(params.get('scope'))
      // A request for more than was granted must not use the token up, so it is looked at first. Nor may one
      // without the key, where there are such tokens, nor one whose claims cannot be read.
      const { accessTokenClaims } = context.options
      const looksFirst = requested.length > 0 || params.has('resource') || accessTokenClaims
      const looked =
        looksFirst || context.features.keyProofs
          ? await requireShare({ content, client }, requested, params, context)
          : null
      // Before the token is used up: a failing hook must not cost an honest client its grant.
      if (!(await context.knownUsers.existsNow(content.userId))) return endFor(content, context)
      const details =
        accessTokenClaims && looked
          ? await detailsWithClaims(looked.token, client, context, looked.share)
          : undefined
      const presentation = { content, client, late, endsBefore, ...(details && { details }) }
      const { generation } = content
      const token =
        (await rotate(generation, generation + 1, presentation, context)) ??
        (await lookAndDecide(presentation, context))
      const share = shareOfGrant(token, { client, params, scopes: requested }, context)
      return createTokenResponse(token, context, share)
    },
  }
}

/** Null when the row is not at that generation (any more), or over. */
function rotate(
  from: number,
  to: number,
  { content, client, endsBefore, details }: Presentation,
  context: ServerContext,
): Promise<Token | null> {
  const { accessTokensExpireAt, refreshTokensExpireAt } = context.options
  const issuedAt = context.clock.now()
  const rotation: Rotation = {
    id: content.tokenId,
    clientId: client.id,
    clientSecretVersion: client.secretVersion,
    generation: from,
    nextGeneration: to,
    issuedAt,
    expiresAt: latestFor(client, accessTokensExpireAt(issuedAt), issuedAt),
    refreshExpiresAt: refreshTokensExpireAt(issuedAt),
    endsBefore,
    ...(details && { details }),
  }
  const rotating = context.storage.tokens.rotate(rotation)
  if (!endsBefore) return rotating
  return rotating.then((token) => {
    // The other processes read it from the feed.
    if (token) for (const ended of endedByRotation(rotation, token)) context.feed.note(ended)
    return token
  })
}

/** The token is genuine but could not simply be rotated. */
async function lookAndDecide(presentation: Presentation, context: ServerContext): Promise<Token> {
  for (let looks = 0; looks < MOST_LOOKS; looks += 1) {
    const token = await decideOnce(presentation, looks > 0, context)
    if (token) return token
  }
  throw new TemporarilyUnavailable('The refresh token is being used by others at this moment')
}

/** Null when the row has changed since it was read. */
async function decideOnce(
  presentation: Presentation,
  overtaken: boolean,
  context: ServerContext,
): Promise<Token | null> {
  const { content, client, late } = presentation
  const { generation } = content
  const row = await context.storage.tokens.find(content.tokenId)
  if (!row) throw refused()
  assertHoldsKey(row, client, context)
  const now = context.clock.now()
  switch (decideRefresh({ generation, client, row, now, late, overtaken })) {
    case 'rotate':
    case 'renew':
      return rotate(row.generation, row.generation + 1, presentation, context)
    case 'repeat':
      return row
    case 'repeat late':
      return repeatLate(row, context)
    case 'move forward':
      return moveForward(row, presentation, context)
    case 'end the family':
      await revokeTokens({ id: row.id }, context)
      throw refused()
    case 'refuse':
      throw refused()
  }
}

/** Marked before it is handed out: were it the other way round, a thief could come late for ever. */
async function repeatLate(row: Token, context: ServerContext): Promise<Token | null> {
  if (!(await context.storage.tokens.markLateRepeat(row.id, row.generation))) return null
  const { id: tokenId, userId, clientId, generation } = row
  context.logger.warn(
    `A refresh token was used again ${secondsSince(row.issuedAt, context)} s after its use and got the same successor: ` +
      `token ${tokenId}, generation ${generation}, client ${clientId}, user ${userId}. ` +
      'After an outage this is expected; once more in the next generation ends the grant.',
  )
  context.events.emit('RefreshTokenRepeatedLate', {
    refreshTokenId: `${tokenId}.${generation}`,
    accessTokenId: tokenId,
    userId,
    clientId,
  })
  return row
}

async function moveForward(
  row: Token,
  presentation: Presentation,
  context: ServerContext,
): Promise<Token | null> {
  const { generation } = presentation.content
  const moved = await rotate(row.generation, generation + 1, presentation, context)
  if (moved) {
    context.logger.warn(
      `A refresh token is newer than its row, so the database has lost writes: token ${row.id} went from ` +
        `generation ${row.generation} to ${moved.generation}. Look for a failover or a restored backup.`,
    )
  }
  return moved
}

function secondsSince(moment: Date, { clock }: ServerContext): number {
  return Math.round((clock.now().getTime() - moment.getTime()) / 1000)
}

/** The row, and what the request asks of it. */
async function requireShare(
  { content, client }: Pick<Presentation, 'content' | 'client'>,
  requested: readonly string[],
  params: Form,
  context: ServerContext,
): Promise<{ readonly token: Token; readonly share: TokenShare }> {
  const token = await context.storage.tokens.find(content.tokenId)
  if (!token || !isAlive(token, client, context.clock.now())) throw refused()
  assertHoldsKey(token, client, context)
  const share = shareOfGrant(token, { client, params, scopes: requested }, context)
  resolveScopes(requested, {
    defined: context.options.scopeNames,
    client: null,
    wildcard: 'allowed',
  })
  return { token, share }
}

/**
 * RFC 9449 §5: the refresh token of a public client is for the holder of its key; a client with a secret has
 * proven itself and may come with another key, but not with none. What began without a key has no holder.
 */
function assertHoldsKey(
  { details }: Token,
  { confidential }: Client,
  { provenKey, features }: ServerContext,
): void {
  // One that does not rotate has no other protection, whatever is switched on now.
  if (!features.keyProofs && !details?.keepsRefreshToken) return
  const key = details?.dpopKey ?? null
  const holds = confidential ? key === null || provenKey !== null : provenKey === key
  if (!holds) throw refused()
}

/** A deleted account keeps nothing, even if the application forgot to call revokeUser(). */
async function endFor({ tokenId }: RefreshTokenContent, context: ServerContext): Promise<never> {
  await revokeTokens({ id: tokenId }, context)
  throw refused()
}

/** One answer for damaged, foreign, expired, revoked and used tokens alike (threat T2). */
function refused(): InvalidGrant {
  return new InvalidGrant('The refresh token is invalid, expired or revoked')
}
