import type { ServerContext } from '../context.ts'
import { isOAuthError } from '../errors.ts'
import { sortScopesByEffect } from '../guard/scope-limits.ts'
import type { Token } from '../storage/records.ts'

/**
 * Finds those scopes of an access token that no limit withholds at present, to tell the client. The
 * token itself keeps all of them. Never fails: by now the token is stored and the previous one used
 * up, and guards ask for the limits again.
 */
export async function findEffectiveScopes(
  { userId, clientId }: Pick<Token, 'userId' | 'clientId'>,
  scopes: readonly string[],
  { scopeLimiters, options, logger }: Pick<ServerContext, 'scopeLimiters' | 'options' | 'logger'>,
): Promise<readonly string[]> {
  try {
    const limits = await scopeLimiters.find({ userId, clientId })
    return sortScopesByEffect(scopes, limits, options).effective
  } catch (error) {
    // Errors of this class were logged already, or are a decision of the application.
    if (!isOAuthError(error)) logger.error('The limits on a new token are unknown', error)
    return scopes
  }
}
