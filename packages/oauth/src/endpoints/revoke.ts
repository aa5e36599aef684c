import { authenticateClient } from '../clients/authenticate.ts'
import type { ServerContext } from '../context.ts'
import type { HttpRequest, Reply } from '../http/exchange.ts'
import { readForm, requireParam } from '../http/form.ts'
import { noStoreJson } from '../http/replies.ts'
import { revokeTokens } from '../tokens/revoke.ts'

/**
 * POST /oauth/revoke (RFC 7009). Access and refresh token end together. Somebody else's token is
 * answered like one that does not exist: with 200 and no effect.
 */
export async function revoke(request: HttpRequest, context: ServerContext): Promise<Reply> {
  const params = await readForm(request)
  const client = await authenticateClient(request, params, context)
  const text = requireParam(params, 'token')
  const id = context.refreshTokens.parse(text)?.tokenId ?? (await idOfAccessToken(text, context))
  const token = id === null ? null : await context.storage.tokens.find(id)
  if (token?.clientId === client.id) await revokeTokens({ id: token.id }, context)
  return noStoreJson({})
}

async function idOfAccessToken(text: string, context: ServerContext): Promise<string | null> {
  return (await context.verifier.identify(text))?.tokenId ?? null
}
