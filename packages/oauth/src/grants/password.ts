import type { ServerContext } from '../context.ts'
import { InvalidGrant, UnauthorizedClient } from '../errors.ts'
import { requireParam } from '../http/form.ts'
import { parseScope, resolveScopes } from '../scopes.ts'
import type { Client } from '../storage/records.ts'
import { createTokenResponse, prepareToken, storeUnlessSignedOut } from '../tokens/issue.ts'
import { buildOwnerKey, type UserProvider, type UserProviders } from '../users/providers.ts'
import { retryIfSignedOut } from '../users/retry-if-signed-out.ts'
import type { Grant } from './grant.ts'
import { readResourceDetails, withDefaultScopes } from './requested-share.ts'

/** Long enough for any passphrase. Longer input is rejected, never truncated (threat T8). */
const MAX_CREDENTIAL_LENGTH = 1024

/**
 * Creates the password grant (RFC 6749 §4.3), for first-party clients that hold it. Needs
 * `users.findByCredentials`. Only this grant can issue the scope `*`.
 * @example
 * createAuthorizationServer({ …, grants: [password(), refreshToken()] })
 */
export function password(): Grant {
  return {
    type: 'password',
    async exchange({ client, params }, context: ServerContext) {
      const username = requireParam(params, 'username')
      const secret = requireParam(params, 'password')
      const named = resolveScopes(parseScope(params.get('scope')), {
        defined: context.options.scopeNames,
        client: client.scopes,
        wildcard: 'allowed',
      })
      const scopes = withDefaultScopes(named, { client, params }, context)
      const details = readResourceDetails(params, scopes, context)
      const provider = findClientProvider(client, context.providers)
      const token = await retryIfSignedOut(
        context,
        () => findUser(username, secret, provider),
        async (user, mark) => {
          const userId = buildOwnerKey(provider, user.id)
          const issue = {
            client,
            userId,
            scopes,
            grantType: 'password',
            refreshable: true,
            details,
          } as const
          return storeUnlessSignedOut(await prepareToken(issue, context), mark, context)
        },
      )
      if (!token) throw new InvalidGrant('The user credentials are incorrect')
      return createTokenResponse(token, context)
    },
  }
}

/**
 * Finds the user provider through the client: with several providers a user name alone is
 * ambiguous.
 * @throws UnauthorizedClient if the client belongs to no provider
 */
function findClientProvider({ settings }: Client, { all, find }: UserProviders): UserProvider {
  const [first] = all
  const provider = settings.provider === undefined ? first : find(settings.provider)
  if (provider && (provider.name ?? undefined) === settings.provider) return provider
  throw new UnauthorizedClient('The password grant needs a client that belongs to a user provider')
}

async function findUser(username: string, secret: string, { users }: UserProvider) {
  if (!users.findByCredentials) {
    throw new TypeError('The password grant needs users.findByCredentials(username, password)')
  }
  if (username.length > MAX_CREDENTIAL_LENGTH || secret.length > MAX_CREDENTIAL_LENGTH) return null
  return users.findByCredentials(username, secret)
}
