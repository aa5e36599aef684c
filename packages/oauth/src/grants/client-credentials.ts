import { UnauthorizedClient } from '../errors.ts'
import { parseScope, resolveScopes } from '../scopes.ts'
import { issueTokens } from '../tokens/issue.ts'
import type { Grant } from './grant.ts'

/** RFC 6749 §4.4: a confidential client acting for itself. No user, no refresh token. */
export function clientCredentials(): Grant {
  return {
    type: 'client_credentials',
    exchange({ client, params }, context) {
      if (!client.confidential) {
        throw new UnauthorizedClient('Only confidential clients may act for themselves')
      }
      const scopes = resolveScopes(parseScope(params.get('scope')), {
        defined: context.options.scopeNames,
        client: client.scopes,
        wildcard: 'refused',
      })
      return issueTokens(
        { client, userId: null, scopes, grantType: 'client_credentials', refreshable: false },
        context,
      )
    },
  }
}
