import type { ServerContext } from '../context.ts'
import { secondsUntil } from '../lifetimes.ts'
import { findEffectiveScopes } from '../tokens/effective-scopes.ts'
import { limitToResourceLifetime, prepareToken } from '../tokens/issue.ts'
import type { ApprovedRequest, Grant } from './grant.ts'
import { determineAccessFromGrant } from './requested-share.ts'

/**
 * Creates the implicit grant (RFC 6749 §4.2), which returns the token in the fragment and no
 * refresh token. Only for old clients; new ones should use `authorizationCode()`.
 */
export function implicit(): Grant {
  return {
    type: 'implicit',
    response: {
      type: 'token',
      mode: 'fragment',
      async prepare({ client, userId, scopes, details }: ApprovedRequest, context: ServerContext) {
        const issue = { client, userId, scopes, grantType: 'implicit', refreshable: false } as const
        const whole = { client, params: new Map(), scopes: [] }
        const share = determineAccessFromGrant({ scopes, details }, whole, context)
        const built = await prepareToken({ ...issue, details }, context, share)
        const token = limitToResourceLifetime(built, share.resources, context)
        return {
          token,
          params: {
            access_token: await context.accessTokens.encode(token, share),
            token_type: 'Bearer',
            expires_in: String(secondsUntil(token.expiresAt, context.clock)),
            scope: (await findEffectiveScopes(token, share.scopes, context)).join(' '),
          },
        }
      },
    },
  }
}
