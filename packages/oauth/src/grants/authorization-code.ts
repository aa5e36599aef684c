import { CLOCK_SKEW_MS } from '../clock.ts'
import type { ServerContext } from '../context.ts'
import { createRandomSecret, createTimeOrderedId, sha256 } from '../crypto.ts'
import { InvalidGrant } from '../errors.ts'
import { type Form, requireParam } from '../http/form.ts'
import type { AuthorizationCode, Client } from '../storage/records.ts'
import { createTokenResponse, prepareToken } from '../tokens/issue.ts'
import { matchesProvenKey } from '../tokens/proven-key.ts'
import { revokeTokens } from '../tokens/revoke.ts'
import type { ApprovedRequest, AuthorizationResponse, Grant } from './grant.ts'
import { verifyChallenge } from './pkce.ts'
import { determineAccessFromGrant } from './requested-share.ts'

/**
 * Lifetime of a code in milliseconds. RFC 6749 §4.1.2 allows up to 10 minutes, but a redirect takes
 * about a second.
 */
const CODE_LIFETIME = 60_000

/**
 * Creates the authorization code grant with PKCE (RFC 6749 §4.1, RFC 7636). Public clients must use
 * PKCE.
 * @example
 * createAuthorizationServer({ …, grants: [authorizationCode(), refreshToken()] })
 */
export function authorizationCode(): Grant {
  return {
    type: 'authorization_code',
    response,
    async exchange({ client, params }, context: ServerContext) {
      const hash = sha256(requireParam(params, 'code'))
      const code = await context.codes.take(hash)
      // A code presented by another client is rejected but stays usable: its owner may still redeem
      // it.
      if (!code || code.clientId !== client.id) throw refused()
      if (code.usedAt) return refuseReplay(code, context)
      assertExchangeable(code, client, params, context)
      const share = determineAccessFromGrant(code, { client, params, scopes: [] }, context)
      // Check before the code is used up: if the application's lookup fails, the client can retry
      // with the same code.
      if (!(await context.knownUsers.existsNow(code.userId))) throw refused()
      const token = await prepareToken(
        {
          id: code.tokenId,
          client,
          userId: code.userId,
          scopes: code.scopes,
          grantType: 'authorization_code',
          refreshable: true,
          details: code.details,
        },
        context,
        share,
      )
      const won = await context.storage.codes.exchange(hash, token.createdAt, token)
      if (!won) return refuseReplay(code, context)
      return createTokenResponse(token, context, share)
    },
  }
}

const response: AuthorizationResponse = {
  type: 'code',
  mode: 'query',
  prepare(request: ApprovedRequest, context: ServerContext) {
    const now = context.clock.now()
    const text = `tgc_${createRandomSecret()}`
    const code: AuthorizationCode = {
      hash: sha256(text),
      tokenId: createTimeOrderedId(now),
      clientId: request.client.id,
      userId: request.userId,
      redirectUri: request.redirectUri,
      scopes: request.scopes,
      codeChallenge: request.codeChallenge,
      expiresAt: new Date(now.getTime() + CODE_LIFETIME),
      usedAt: null,
      details: request.details,
    }
    context.codes.remember(code)
    return { code, params: { code: text } }
  },
}

function assertExchangeable(
  code: AuthorizationCode,
  client: Client,
  params: Form,
  context: ServerContext,
): void {
  const left = code.expiresAt.getTime() - context.clock.now().getTime()
  // More time left than the code ever had means that the clock was set back, which must not extend
  // the code's life.
  if (left <= 0 || left > CODE_LIFETIME + CLOCK_SKEW_MS) throw refused()
  // RFC 6749 §4.1.3: must equal the redirect_uri of the authorization request.
  const redirectUri = params.get('redirect_uri') ?? null
  const unnamed = code.redirectUri === null && redirectUri === client.redirectUris[0]
  if (redirectUri !== code.redirectUri && !unnamed) throw refused()
  // The request of a public client had a challenge (RFC 9700 §2.1.1). If it is missing now, the
  // verifier must not become optional.
  if (!client.confidential && code.codeChallenge === null) throw refused()
  if (!verifyChallenge(code.codeChallenge, params.get('code_verifier') ?? null)) throw refused()
  if (!matchesProvenKey(code, context)) throw refused()
}

/**
 * Revokes the token issued for the code: a second use proves that the code leaked (RFC 6749
 * §4.1.2).
 */
async function refuseReplay(code: AuthorizationCode, context: ServerContext): Promise<never> {
  await revokeTokens({ id: code.tokenId }, context)
  throw refused()
}

/** Creates the error, which is the same for every reason (threat T2). */
function refused(): InvalidGrant {
  return new InvalidGrant('The authorization code is invalid, expired or already used', {
    hint: 'Send the redirect_uri and code_verifier that belong to the authorization request',
  })
}
