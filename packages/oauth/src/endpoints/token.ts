import type { HttpRequest, HttpResponse } from '@tollgate/http'
import { authenticateClient } from '../clients/authenticate.ts'
import type { ServerContext } from '../context.ts'
import { UnauthorizedClient, UnsupportedGrantType } from '../errors.ts'
import type { TokenResponse } from '../grants/grant.ts'
import { readForm, requireParam } from '../http/form.ts'
import { noStore } from '../http/responses.ts'

/** POST /oauth/token (RFC 6749 §3.2). */
export async function token(request: HttpRequest, context: ServerContext): Promise<HttpResponse> {
  const params = await readForm(request)
  const client = await authenticateClient(request, params, context)
  const grant = context.grants.get(requireParam(params, 'grant_type'))
  if (!grant?.exchange) {
    throw new UnsupportedGrantType('This server does not offer that grant_type')
  }
  if (!client.grantTypes.includes(grant.type)) {
    throw new UnauthorizedClient(`This client may not use grant_type=${grant.type}`)
  }
  return noStore(formatResponse(await grant.exchange({ client, params }, context)))
}

/**
 * Our own tokens, and scopes (RFC 6749 §3.3), have no character that JSON escapes. JSON.stringify()
 * would look at each one for it, which takes longer than making an opaque token.
 */
export function formatResponse(response: TokenResponse): string {
  const { token_type, expires_in, access_token, refresh_token, scope } = response
  const refresh = refresh_token === undefined ? '' : `"refresh_token":"${refresh_token}",`
  return `{"token_type":"${token_type}","expires_in":${expires_in},"access_token":"${access_token}",${refresh}"scope":"${scope}"}`
}
