import { CLOCK_SKEW } from '../clock.ts'
import type { ServerContext } from '../context.ts'
import { randomSecret, sha256, timeOrderedId } from '../crypto.ts'
import { InvalidGrant } from '../errors.ts'
import { type Form, requireParam } from '../http/form.ts'
import type { AuthorizationCode, Client } from '../storage/records.ts'
import { createTokenResponse, prepareToken } from '../tokens/issue.ts'
import { isForHolder } from '../tokens/proven-key.ts'
import { revokeTokens } from '../tokens/revoke.ts'
import type { ApprovedRequest, AuthorizationResponse, Grant } from './grant.ts'
import { verifyChallenge } from './pkce.ts'
import { shareOfGrant } from './requested-resources.ts'

/** RFC 6749 §4.1.2 allows 10 minutes; a redirect takes a second. */
const CODE_LIFETIME = 60_000

/** RFC 6749 §4.1 with PKCE (RFC 7636). */
export function authorizationCode(): Grant {
  return {
    type: 'authorization_code',
    response,
    async exchange({ client, params }, context: ServerContext) {
      const hash = sha256(requireParam(params, 'code'))
      const code = await context.codes.take(hash)
      // Shown by another client it is refused and not burnt: its owner may still come.
      if (!code || code.clientId !== client.id) throw refused()
      if (code.usedAt) return refuseReplay(code, context)
      assertExchangeable(code, client, params, context)
      const share = shareOfGrant(code, { client, params, scopes: [] }, context)
      // Before the code is used up: a failing hook must not cost an honest client its grant.
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
    const text = `tgc_${randomSecret()}`
    const code: AuthorizationCode = {
      hash: sha256(text),
      tokenId: timeOrderedId(now),
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
  // More than it ever had: the clock went back, which must not prolong its life.
  if (left <= 0 || left > CODE_LIFETIME + CLOCK_SKEW) throw refused()
  // RFC 6749 §4.1.3: identical to what the authorization request said.
  const redirectUri = params.get('redirect_uri') ?? null
  const unnamed = code.redirectUri === null && redirectUri === client.redirectUris[0]
  if (redirectUri !== code.redirectUri && !unnamed) throw refused()
  // A public client's request had one (RFC 9700 §2.1.1): that it is gone must not make it unnecessary.
  if (!client.confidential && code.codeChallenge === null) throw refused()
  if (!verifyChallenge(code.codeChallenge, params.get('code_verifier') ?? null)) throw refused()
  if (!isForHolder(code, context)) throw refused()
}

/** RFC 6749 §4.1.2: whoever comes second proves a leak, so what the code gave ends. */
async function refuseReplay(code: AuthorizationCode, context: ServerContext): Promise<never> {
  await revokeTokens({ id: code.tokenId }, context)
  throw refused()
}

/** One answer whatever was wrong (threat T2). */
function refused(): InvalidGrant {
  return new InvalidGrant('The authorization code is invalid, expired or already used', {
    hint: 'Send the redirect_uri and code_verifier that belong to the authorization request',
  })
}
