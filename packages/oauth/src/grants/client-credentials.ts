import { UnauthorizedClient } from '../errors.ts'
import type { Grant } from './grant.ts'

/** RFC 6749 §4.4: a confidential client acting for itself. No user, no refresh token. */
export function clientCredentials(): Grant {
  return {
    type: 'client_credentials',
    exchange({ client, params }, context) {
      if (!client.confidential) {
        throw new UnauthorizedClient('Only confidential clients may act for themselves')
      }
      const scopes = context.resolveScopes(params.get('scope'), client)
      const grantType = 'client_credentials'
      return context.issueTokens({ client, userId: null, scopes, grantType, refreshable: false })
    },
  }
}
