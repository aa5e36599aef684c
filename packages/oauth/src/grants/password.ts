import type { ServerContext } from '../context.ts'
import { InvalidGrant } from '../errors.ts'
import { requireParam } from '../http/form.ts'
import { parseScope, resolveScopes } from '../scopes.ts'
import { createTokenResponse, prepareToken, storeUnlessSignedOut } from '../tokens/issue.ts'
import { retryIfSignedOut } from '../users/retry-if-signed-out.ts'
import type { Users } from '../users/users.ts'
import type { Grant } from './grant.ts'
import { detailsOfRequest } from './requested-resources.ts'

/** Long enough for any passphrase; longer ones are refused, never cut (threat T8). */
const LONGEST_CREDENTIAL = 1024

/** RFC 6749 §4.3: for first-party clients made for it. The only grant that may give `*`. */
export function password(): Grant {
  return {
    type: 'password',
    async exchange({ client, params }, context: ServerContext) {
      const username = requireParam(params, 'username')
      const secret = requireParam(params, 'password')
      const scopes = resolveScopes(parseScope(params.get('scope')), {
        defined: context.options.scopeNames,
        client: client.scopes,
        wildcard: 'allowed',
      })
      const details = detailsOfRequest(params, scopes, context)
      const token = await retryIfSignedOut(
        context,
        () => findUser(username, secret, context.users),
        async (user, mark) => {
          const userId = String(user.id)
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

async function findUser(username: string, secret: string, users: Users) {
  if (!users.findByCredentials) {
    throw new TypeError('The password grant needs users.findByCredentials(username, password)')
  }
  if (username.length > LONGEST_CREDENTIAL || secret.length > LONGEST_CREDENTIAL) return null
  return users.findByCredentials(username, secret)
}
