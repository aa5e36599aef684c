import { assertMayRequestMachineScopes } from '../clients/machine-scopes.ts'
import type { ServerContext } from '../context.ts'
import { InvalidScope, UnauthorizedClient } from '../errors.ts'
import type { Form } from '../http/form.ts'
import { parseScope } from '../scopes.ts'
import type { Client } from '../storage/records.ts'
import type { Grant } from './grant.ts'
import { readResourceDetails, withDefaultScopes } from './requested-share.ts'

/**
 * Creates the client credentials grant (RFC 6749 §4.4), with which a confidential client acts for
 * itself. Its tokens have no user and no refresh token.
 * @example
 * createAuthorizationServer({ …, grants: [clientCredentials()] })
 */
export function clientCredentials(): Grant {
  return {
    type: 'client_credentials',
    exchange({ client, params }, context: ServerContext) {
      if (!client.confidential) {
        throw new UnauthorizedClient('Only confidential clients may use client_credentials')
      }
      const named = resolveNamed(params, client, context)
      const scopes = withDefaultScopes(named, { client, params }, context)
      const personal = scopes.find((name) => context.options.identityScopes.has(name))
      if (personal !== undefined) {
        throw new InvalidScope(
          `The scope '${personal}' is about a user, but this token has no user`,
        )
      }
      const grantType = 'client_credentials'
      const details = readResourceDetails(params, scopes, context)
      const issue = { client, userId: null, scopes, grantType, refreshable: false, details }
      return context.issueTokens(issue)
    },
  }
}

/**
 * Returns the requested scopes if the client may have all of them. Only this grant accepts machine
 * scopes.
 */
function resolveNamed(params: Form, client: Client, context: ServerContext): string[] {
  const requested = parseScope(params.get('scope'))
  const { machineScopeNames } = context.options
  const isMachine = (name: string) => machineScopeNames.has(name)
  assertMayRequestMachineScopes(requested.filter(isMachine), client)
  context.resolveScopes(requested.filter((name) => !isMachine(name)).join(' '), client)
  return requested
}
