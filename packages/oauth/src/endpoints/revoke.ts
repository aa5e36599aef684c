import type { HttpRequest, HttpResponse } from '@tollgate/http'
import { authenticateClient } from '../clients/authenticate.ts'
import type { ServerContext } from '../context.ts'
import { readForm, requireParam } from '../http/form.ts'
import { noStoreJsonResponse } from '../http/responses.ts'
import { revokeToken } from '../tokens/revoke.ts'

/**
 * Handles POST /oauth/revoke (RFC 7009). Revokes access and refresh token together. Another
 * client's token is treated like a missing one: 200 and no effect.
 */
export async function handleRevocation(
  request: HttpRequest,
  context: ServerContext,
): Promise<HttpResponse> {
  const params = await readForm(request)
  const client = await authenticateClient(request, params, context)
  const text = requireParam(params, 'token')
  const refresh = context.refreshTokens.parse(text)
  const access = refresh ? null : await context.verifier.identify(text)
  const id = refresh?.tokenId ?? access?.tokenId
  if (id === undefined) return noStoreJsonResponse({})
  // If the row is lost, the token itself still names its client.
  const owner = (await context.storage.tokens.find(id))?.clientId ?? access?.clientId
  const until = access ? { until: new Date(access.claims.exp * 1000) } : {}
  if (owner === client.id) await revokeToken(id, context, until)
  return noStoreJsonResponse({})
}
