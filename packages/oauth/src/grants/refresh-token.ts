import { limitSelfRegisteredExpiry } from '../clients/self-registered.ts'
import type { ServerContext } from '../context.ts'
import { InvalidGrant, TemporarilyUnavailable } from '../errors.ts'
import { type Form, requireParam } from '../http/form.ts'
import { parseSeconds } from '../lifetimes.ts'
import { parseScope, resolveScopes } from '../scopes.ts'
import type { GrantDetails } from '../storage/details.ts'
import type { Client, Token, TokenRotation } from '../storage/records.ts'
import { listRevocationsByRotation } from '../storage/rotated-token.ts'
import type { TokenAccess } from '../tokens/formats/format.ts'
import type { RefreshTokenContent } from '../tokens/formats/refresh-tokens.ts'
import { buildDetailsWithClaims, createTokenResponse } from '../tokens/issue.ts'
import { revokeTokens } from '../tokens/revoke.ts'
import { clientServesUser } from '../users/providers.ts'
import type { Grant } from './grant.ts'
import {
  decideRefresh,
  isRefreshableToken,
  type LateRepeatWindows,
  REPEAT_WINDOW_MS,
} from './refresh-decision.ts'
import { determineAccessFromGrant } from './requested-share.ts'

/** Options of `refreshToken()`. */
export interface RefreshTokenOptions {
  /**
   * How long presenting a used refresh token again returns the same successor, provided that the
   * successor is unused. Helps clients that lost the response, for example in an outage. With
   * `false`, this is possible only within ten seconds. The value must be between 10 seconds and 7
   * days.
   * @default '24h'
   */
  readonly repeatableFor?: string | number | false
  /**
   * Like `repeatableFor`, for public clients. Shorter by default, because a stolen copy can be used
   * without authentication.
   * @default '1h'
   */
  readonly publicRepeatableFor?: string | number | false
  /**
   * Whether a refresh revokes the previous access token, on every process within a second.
   * Otherwise it stays valid until it expires, since concurrent requests and other tabs may still
   * use it.
   * @default false
   */
  readonly endsOldAccessToken?: boolean
}

/** How often to retry when a concurrent request changed the row between read and write. */
const MAX_ATTEMPTS = 5

interface RefreshAttempt {
  readonly content: RefreshTokenContent
  readonly client: Client
  readonly late: LateRepeatWindows
  /** Whether the previous access token is revoked. */
  readonly endsOldAccessTokens: boolean
  /** New details for the row, if the application adds claims. */
  readonly details?: GrantDetails
}

/**
 * Creates the refresh token grant (RFC 6749 §6). Tokens rotate, and reuse of an old token ends the
 * grant (RFC 9700 §4.14.2).
 * @example
 * createAuthorizationServer({ …, grants: [authorizationCode(), refreshToken({ repeatableFor: '2h' })] })
 */
export function refreshToken(options: RefreshTokenOptions = {}): Grant {
  const late = parseLateRepeatWindows(options)
  const endsOldAccessTokens = options.endsOldAccessToken ?? false
  return {
    type: 'refresh_token',
    async exchange({ client, params }, context: ServerContext) {
      const content = context.refreshTokens.parse(requireParam(params, 'refresh_token'))
      // A token that this process knows to be revoked stays revoked, even if the database lost the
      // revocation in a failover.
      if (!content || context.feed.isRevoked('token', content.tokenId)) throw refused()
      const requested = parseScope(params.get('scope'))
      // Some checks have to fail before the token is used up: a request for more than was granted,
      // a missing key if tokens are bound to keys, and claims that cannot be read.
      const { accessTokenClaims } = context.options
      const checksFirst = requested.length > 0 || params.has('resource') || accessTokenClaims
      const checked =
        checksFirst || context.features.keyProofs
          ? await requireTokenAccess({ content, client }, requested, params, context)
          : null
      if (!clientServesUser(client, content.userId, context.providers)) throw refused()
      // Check before the token is used up: if the application's lookup fails, the client can retry
      // with the same token.
      if (!(await context.knownUsers.existsNow(content.userId)))
        return revokeAndRefuse(content, context)
      const details =
        accessTokenClaims && checked
          ? await buildDetailsWithClaims(checked.token, client, context, checked.share)
          : undefined
      const presentation = {
        content,
        client,
        late,
        endsOldAccessTokens,
        ...(details && { details }),
      }
      const { generation } = content
      const token =
        (await rotate(generation, generation + 1, presentation, context)) ??
        (await decideWithRetries(presentation, context))
      const share = determineAccessFromGrant(token, { client, params, scopes: requested }, context)
      return createTokenResponse(token, context, share)
    },
  }
}

/**
 * Rotates the token from one generation to another. Returns `null` if the row is no longer at the
 * generation `from`, or if the grant has ended.
 */
function rotate(
  from: number,
  to: number,
  { content, client, endsOldAccessTokens, details }: RefreshAttempt,
  context: ServerContext,
): Promise<Token | null> {
  const { accessTokensExpireAt, refreshTokensExpireAt } = context.options
  const issuedAt = context.clock.now()
  const rotation: TokenRotation = {
    id: content.tokenId,
    clientId: client.id,
    clientSecretVersion: client.secretVersion,
    generation: from,
    nextGeneration: to,
    issuedAt,
    expiresAt: limitSelfRegisteredExpiry(client, accessTokensExpireAt(issuedAt), issuedAt),
    refreshExpiresAt: refreshTokensExpireAt(issuedAt),
    endsOldAccessTokens,
    ...(details && { details }),
  }
  const rotating = context.storage.tokens.rotate(rotation)
  if (!endsOldAccessTokens) return rotating
  return rotating.then((token) => {
    // Other processes learn of it from the revocation feed.
    if (token)
      for (const ended of listRevocationsByRotation(rotation, token)) context.feed.note(ended)
    return token
  })
}

/**
 * Decides about a genuine token that could not simply be rotated, retrying while concurrent
 * requests change its row.
 */
async function decideWithRetries(
  presentation: RefreshAttempt,
  context: ServerContext,
): Promise<Token> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const token = await decideOnce(presentation, attempt > 0, context)
    if (token) return token
  }
  throw new TemporarilyUnavailable(
    'The refresh token is being used by too many concurrent requests',
  )
}

/** Makes one attempt. Returns `null` if the row has changed since it was read. */
async function decideOnce(
  presentation: RefreshAttempt,
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
      return returnSuccessorAgain(row, context)
    case 'move forward':
      return adoptNewerGeneration(row, presentation, context)
    case 'end the family':
      await revokeTokens({ id: row.id }, context)
      throw refused()
    case 'refuse':
      throw refused()
  }
}

/**
 * Marks the late repeat before returning the successor. In the reverse order, a thief could repeat
 * late again and again.
 */
async function returnSuccessorAgain(row: Token, context: ServerContext): Promise<Token | null> {
  if (!(await context.storage.tokens.markLateRepeat(row.id, row.generation))) return null
  const { id: tokenId, userId, clientId, generation } = row
  context.logger.warn(
    `A refresh token was used again ${secondsSince(row.issuedAt, context)} s after its first use and got the same successor: ` +
      `token ${tokenId}, generation ${generation}, client ${clientId}, user ${userId}. ` +
      'This is expected after an outage. Another late repeat in the next generation ends the grant.',
  )
  context.events.emit('RefreshTokenRepeatedLate', {
    refreshTokenId: `${tokenId}.${generation}`,
    accessTokenId: tokenId,
    userId,
    clientId,
  })
  return row
}

async function adoptNewerGeneration(
  row: Token,
  presentation: RefreshAttempt,
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

/**
 * Returns the row and the requested share of it.
 * @throws InvalidGrant if the grant has ended
 */
async function requireTokenAccess(
  { content, client }: Pick<RefreshAttempt, 'content' | 'client'>,
  requested: readonly string[],
  params: Form,
  context: ServerContext,
): Promise<{ readonly token: Token; readonly share: TokenAccess }> {
  const token = await context.storage.tokens.find(content.tokenId)
  if (!token || !isRefreshableToken(token, client, context.clock.now())) throw refused()
  assertHoldsKey(token, client, context)
  const share = determineAccessFromGrant(token, { client, params, scopes: requested }, context)
  resolveScopes(requested, {
    defined: context.options.scopeNames,
    client: null,
    wildcard: 'allowed',
  })
  return { token, share }
}

/**
 * Requires a proof of the key that the grant is bound to (RFC 9449 §5). A public client must prove
 * exactly this key. A confidential client has authenticated, so it may prove another key, but it
 * has to prove one. A grant that began without a key needs no proof.
 */
function assertHoldsKey(
  { details }: Token,
  { confidential }: Client,
  { provenKey, features }: ServerContext,
): void {
  // A token that does not rotate has no other protection, so the key is required even if `dpop()`
  // has been switched off.
  if (!features.keyProofs && !details?.keepsRefreshToken) return
  const key = details?.dpopKey ?? null
  const holds = confidential ? key === null || provenKey !== null : provenKey === key
  if (!holds) throw refused()
}

/** Revokes the tokens of a deleted account, even if the application forgot to call revokeUser(). */
async function revokeAndRefuse(
  { tokenId }: RefreshTokenContent,
  context: ServerContext,
): Promise<never> {
  await revokeTokens({ id: tokenId }, context)
  throw refused()
}

/**
 * Creates the error, which is the same for damaged, foreign, expired, revoked and used tokens
 * (threat T2).
 */
function refused(): InvalidGrant {
  return new InvalidGrant('The refresh token is invalid, expired or revoked')
}

const MIN_WINDOW = REPEAT_WINDOW_MS / 1000
const MAX_WINDOW = 7 * 24 * 3600

export function parseLateRepeatWindows(options: RefreshTokenOptions): LateRepeatWindows {
  return {
    confidential: parseWindow('repeatableFor', options.repeatableFor ?? '24h'),
    public: parseWindow('publicRepeatableFor', options.publicRepeatableFor ?? '1h'),
  }
}

function parseWindow(name: keyof RefreshTokenOptions, value: string | number | false): number {
  if (value === false) return 0
  const seconds = parseSeconds(name, value)
  if (seconds < MIN_WINDOW || seconds > MAX_WINDOW) {
    throw new TypeError(
      `${name}: ${JSON.stringify(value)} is not between 10 seconds (the minimum, which always applies) and 7 days. Use e.g. '24h', or false to allow repeats within those 10 seconds only.`,
    )
  }
  return seconds * 1000
}
