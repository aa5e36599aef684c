import type { HttpRequest, HttpResponse } from '@tollgate/http'
import type { ServerContext } from '../context.ts'
import { NotFound } from '../errors.ts'
import { createPaginatedResponse } from '../http/page.ts'
import { emptyResponse } from '../http/responses.ts'
import type { Token } from '../storage/records.ts'
import type { TokenWithClient } from '../storage/repositories.ts'
import { revokeTokens } from '../tokens/revoke.ts'
import { toTokenJson } from '../tokens/token-json.ts'
import { requireSignedIn } from './signed-in.ts'

/**
 * Handles GET /oauth/tokens: lists the tokens that third-party clients hold for the signed-in
 * person, each with its client.
 */
export async function handleTokenList(
  request: HttpRequest,
  context: ServerContext,
): Promise<HttpResponse> {
  const person = await requireSignedIn(request, context)
  const now = context.options.clock.now()
  const listed = await context.storage.tokens.listWithClients(person.id, now)
  return createPaginatedResponse(request, listed.filter(isThirdParty), {
    at: ({ token }) => ({ by: token.createdAt.getTime(), id: token.id }),
    order: 'descending',
    toJson: ({ token, client }) => toTokenJson(token, client),
  })
}

/** Excludes the application's own clients, and revoked clients, whose tokens no longer work. */
function isThirdParty({ client }: TokenWithClient): boolean {
  return !client.revokedAt && !client.firstParty && !client.grantTypes.includes('password')
}

/**
 * Handles DELETE /oauth/tokens/{id}: revokes the token, its refresh token and the approval behind
 * them.
 */
export async function handleTokenDeletion(
  request: HttpRequest,
  context: ServerContext,
  id: string,
): Promise<HttpResponse> {
  const person = await requireSignedIn(request, context)
  const token = await revokeOwnToken(id, person.id, null, context)
  // With the approval still stored, the client would get a new token without asking the person
  // (threat A12).
  await context.storage.consents.remove(person.id, token.clientId)
  return emptyResponse()
}

export async function revokeOwnToken(
  id: string,
  userId: string,
  grantType: string | null,
  context: ServerContext,
): Promise<Token> {
  const token = id.length > 64 ? null : await context.storage.tokens.find(id)
  const theirs = token?.userId === userId && token.revokedAt === null
  if (!theirs || (token.grantType === 'personal_access') !== (grantType === 'personal_access')) {
    throw new NotFound('There is no such token.')
  }
  await revokeTokens({ id: token.id }, context)
  return token
}
