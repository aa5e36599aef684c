import {
  type Grant,
  type GrantContext,
  InvalidGrant,
  InvalidScope,
  requireParam,
  type VerifiedToken,
} from '@tollgate/oauth'

const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token'

/**
 * Creates a grant with RFC 8693 in its smallest form: issues a token for another client, with at
 * most the scopes and lifetime of the original.
 */
export function tokenExchange(): Grant {
  return {
    type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    async exchange({ client, params }, context) {
      const subject = await requireSubject(requireParam(params, 'subject_token'), context)
      const scopes = context.resolveScopes(params.get('scope'), client)
      if (!scopes.every((name) => subject.scopes.includes(name))) {
        throw new InvalidScope('The token given does not hold these scopes')
      }
      const response = await context.issueTokens({
        client,
        userId: subject.subject.id,
        scopes,
        grantType: this.type,
        refreshable: false,
        expiresAt: new Date(subject.claims.exp * 1000),
      })
      return { ...response, issued_token_type: ACCESS_TOKEN }
    },
  }
}

async function requireSubject(text: string, context: GrantContext): Promise<VerifiedToken> {
  const found = await context.verifyAccessToken(text).catch((cause) => {
    throw new InvalidGrant('The token given is not alive', { cause })
  })
  if (found.subject.kind === 'user') return found
  throw new InvalidGrant('The token given does not belong to a user')
}
