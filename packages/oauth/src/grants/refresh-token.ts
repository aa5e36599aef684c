import { CLOCK_SKEW } from '../clock.ts'
import type { ServerContext } from '../context.ts'
import { InvalidGrant } from '../errors.ts'
import { requireParam } from '../http/form.ts'
import { narrowScopes, parseScope, resolveScopes } from '../scopes.ts'
import type { Client, Token } from '../storage/repositories.ts'
import { handOver } from '../tokens/issue.ts'
import type { RefreshTokenContent } from '../tokens/refresh-tokens.ts'
import { revokeTokens } from '../tokens/revoke.ts'
import type { Grant } from './grant.ts'

/** A lost reply or two tabs at once: within this time a repeat gets the same successor. */
const REPEAT_WINDOW = 10_000

/** RFC 6749 §6 with rotation and reuse detection as RFC 9700 §4.14.2 asks. */
export function refreshToken(): Grant {
  return {
    type: 'refresh_token',
    async exchange({ client, params }, context) {
      const content = context.refreshTokens.parse(requireParam(params, 'refresh_token'))
      if (!content) throw refused()
      const requested = parseScope(params.get('scope'))
      // A request for more than was granted must not use the token up, so it is looked at first.
      if (requested.length > 0) await assertMayNarrow(content, requested, client, context)
      // Before the token is used up: a failing hook must not cost an honest client its grant.
      if (!(await context.options.users.findById(content.userId))) return endFor(content, context)
      const rotated = await rotate(content, client, context)
      const token = rotated ?? (await repeatOrRefuse(content, client, context))
      return handOver(token, context, narrowScopes(token.scopes, requested))
    },
  }
}

/** Null when the token is not the present one, or over. */
function rotate(
  content: RefreshTokenContent,
  client: Client,
  context: ServerContext,
): Promise<Token | null> {
  const { clock, accessTokensExpireAt, refreshTokensExpireAt } = context.options
  const issuedAt = clock.now()
  return context.storage.tokens.rotate({
    id: content.tokenId,
    clientId: client.id,
    clientSecretVersion: client.secretVersion,
    generation: content.generation,
    issuedAt,
    expiresAt: accessTokensExpireAt(issuedAt),
    refreshExpiresAt: refreshTokensExpireAt(issuedAt),
  })
}

/** The token was genuine but is not the present one: a repeat, a reuse, or plainly over. */
async function repeatOrRefuse(
  content: RefreshTokenContent,
  client: Client,
  context: ServerContext,
): Promise<Token> {
  const token = await requireAlive(content, client, context)
  if (content.generation >= token.generation) throw refused()
  const age = context.options.clock.now().getTime() - token.issuedAt.getTime()
  const isRecent = age <= REPEAT_WINDOW && age >= -CLOCK_SKEW
  if (content.generation === token.generation - 1 && isRecent) return token
  await revokeTokens({ id: token.id }, context)
  throw refused()
}

async function assertMayNarrow(
  content: RefreshTokenContent,
  requested: readonly string[],
  client: Client,
  context: ServerContext,
): Promise<void> {
  const token = await requireAlive(content, client, context)
  narrowScopes(token.scopes, requested)
  resolveScopes(requested, {
    defined: context.options.scopeNames,
    client: null,
    wildcard: 'allowed',
  })
}

async function requireAlive(
  content: RefreshTokenContent,
  client: Client,
  context: ServerContext,
): Promise<Token> {
  const token = await context.storage.tokens.find(content.tokenId)
  const now = context.options.clock.now()
  const alive =
    token?.clientId === client.id &&
    token.clientSecretVersion === client.secretVersion &&
    token.revokedAt === null &&
    token.refreshExpiresAt !== null &&
    token.refreshExpiresAt > now
  if (!alive) throw refused()
  return token
}

/** A deleted account keeps nothing, even if the application forgot to call revokeUser(). */
async function endFor({ tokenId }: RefreshTokenContent, context: ServerContext): Promise<never> {
  await revokeTokens({ id: tokenId }, context)
  throw refused()
}

/** One answer for damaged, foreign, expired, revoked and used tokens alike (threats T2). */
function refused(): InvalidGrant {
  return new InvalidGrant('The refresh token is invalid, expired or revoked')
}
