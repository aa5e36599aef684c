import type { ServerContext } from '../context.ts'
import { isOAuthError } from '../errors.ts'
import { splitWithheldScopes } from '../guard/scope-limits.ts'
import type { Token } from '../storage/records.ts'

/**
 * Finds the scopes of an access token that no limit withholds at present, for the token response.
 * The token itself keeps all of its scopes. Never throws, because the token is already stored, and
 * the code or refresh token for it is used. Guards check the limits again.
 */
export async function findEffectiveScopes(
  { userId, clientId }: Pick<Token, 'userId' | 'clientId'>,
  scopes: readonly string[],
  { scopeLimiters, options, logger }: Pick<ServerContext, 'scopeLimiters' | 'options' | 'logger'>,
): Promise<readonly string[]> {
  try {
    const limits = await scopeLimiters.find({ userId, clientId })
    return splitWithheldScopes(scopes, limits, options).effective
  } catch (error) {
    // Errors of this class were logged already, or are a decision of the application.
    if (!isOAuthError(error)) logger.error('The limits on a new token are unknown', error)
    return scopes
  }
}
