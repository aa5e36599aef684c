import type { ServerContext } from '../context.ts'
import { secondsUntil } from '../lifetimes.ts'
import { buildToken, shortened, wholeShare } from '../tokens/issue.ts'
import type { ApprovedRequest, Grant } from './grant.ts'

/** RFC 6749 §4.2: the token itself in the fragment, no refresh token. Off unless listed. */
export function implicit(): Grant {
  return {
    type: 'implicit',
    response: {
      type: 'token',
      mode: 'fragment',
      async prepare({ client, userId, scopes, details }: ApprovedRequest, context: ServerContext) {
        const issue = { client, userId, scopes, grantType: 'implicit', refreshable: false } as const
        const built = buildToken({ ...issue, details }, context)
        const token = shortened(built, details?.resources, context)
        return {
          token,
          params: {
            access_token: await context.accessTokens.encode(token, wholeShare(token)),
            token_type: 'Bearer',
            expires_in: String(secondsUntil(token.expiresAt, context.clock)),
            scope: scopes.join(' '),
          },
        }
      },
    },
  }
}
