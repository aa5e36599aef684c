import type { ServerContext } from '../context.ts'
import { sha256 } from '../crypto.ts'
import { isOAuthError, TemporarilyUnavailable } from '../errors.ts'
import type { AddedByApplication } from '../storage/details.ts'
import { buildTokenAccessKey } from './formats/claims.ts'
import { type AccessTokenClaimsContext, InvalidAddedClaims } from './formats/claims-hook.ts'
import type { TokenAccess } from './formats/format.ts'

/**
 * Asks the application for the claims of a token (`accessTokenClaims`). Called before anything is
 * stored, so that a failing hook does not use up a code or refresh token. `null` without a hook.
 * @throws TemporarilyUnavailable if the hook fails
 */
export async function readAddedClaims(
  { client, userId, grantType }: Pick<AccessTokenClaimsContext, 'client' | 'userId' | 'grantType'>,
  share: TokenAccess,
  context: ServerContext,
): Promise<AddedByApplication | null> {
  const { options, accessTokens, users } = context
  if (options.accessTokenClaims === null) return null
  const { scopes, resources = [options.resources.own.uri] } = share
  const findUser = async () => (userId === null ? null : users.findById(userId))
  try {
    const question = { client, userId, findUser, scopes, resources, grantType }
    const claims = await options.accessTokenClaims(question)
    return {
      for: sha256(buildTokenAccessKey(scopes, accessTokens.audienceFor(share.resources))),
      claims,
    }
  } catch (error) {
    // The hook may reject the token with an OAuth error of its own.
    if (isOAuthError(error) || error instanceof InvalidAddedClaims) throw error
    context.logger.error('accessTokenClaims() failed, so no token was issued', error)
    throw new TemporarilyUnavailable('The claims of the token could not be read', { cause: error })
  }
}
