import type { ServerContext } from '../context.ts'
import { InvalidScope, UnauthorizedClient } from '../errors.ts'
import type { Grant } from './grant.ts'
import { detailsOfRequest } from './requested-resources.ts'

/** RFC 6749 §4.4: a confidential client acting for itself. No user, no refresh token. */
export function clientCredentials(): Grant {
  return {
    type: 'client_credentials',
    exchange({ client, params }, context: ServerContext) {
      if (!client.confidential) {
        throw new UnauthorizedClient('Only confidential clients may act for themselves')
      }
      const scopes = context.resolveScopes(params.get('scope'), client)
      const personal = scopes.find((name) => context.options.identityScopes.has(name))
      if (personal !== undefined) {
        throw new InvalidScope(`The scope '${personal}' is about a person, and here is none`)
      }
      const grantType = 'client_credentials'
      const details = detailsOfRequest(params, scopes, context)
      const issue = { client, userId: null, scopes, grantType, refreshable: false, details }
      return context.issueTokens(issue)
    },
  }
}
