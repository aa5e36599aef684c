import type { HttpRequest, HttpResponse } from '@tollgate/http'
import { authenticateClient } from '../clients/authenticate.ts'
import { isUnusedClient, markClientUsed } from '../clients/self-registered.ts'
import type { ServerContext } from '../context.ts'
import { UnauthorizedClient, UnsupportedGrantType } from '../errors.ts'
import { readForm, requireParam } from '../http/form.ts'
import { noStoreJsonResponse } from '../http/responses.ts'
import { bindTokensToKey, readProvenKey } from '../tokens/proven-key.ts'

/** Handles POST /oauth/token (RFC 6749 §3.2). */
export async function handleTokenRequest(
  request: HttpRequest,
  context: ServerContext,
): Promise<HttpResponse> {
  const params = await readForm(request)
  const client = await authenticateClient(request, params, context)
  const grant = context.grants.get(requireParam(params, 'grant_type'))
  if (!grant?.exchange) {
    throw new UnsupportedGrantType('This server does not offer that grant_type')
  }
  if (!client.grantTypes.includes(grant.type)) {
    throw new UnauthorizedClient(`This client may not use grant_type=${grant.type}`)
  }
  const proving = readProvenKey(request, client, context)
  const proven = proving && (await proving)
  const signOutMark = context.feed.signOutMark()
  const exchangeRequest = { client, params, request, signOutMark }
  const within = proven ? bindTokensToKey(context, proven.thumbprint) : context
  const response = await grant.exchange(exchangeRequest, within)
  // A client that proved a key must never receive an unbound token, whatever the grant does. `N_A`
  // marks a token that is not an access token.
  if (proven && !['DPoP', 'N_A'].includes(response.token_type)) {
    throw new Error(`${grant.type} issued a token that is not bound to the proven key`)
  }
  if (isUnusedClient(client)) await markClientUsed(client, context)
  const recording = context.clientUses.note(client.id)
  if (recording) await recording
  return noStoreJsonResponse(response, 200, proven?.headers)
}
