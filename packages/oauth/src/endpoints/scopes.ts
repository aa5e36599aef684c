import type { HttpRequest, HttpResponse } from '@tollgate/http'
import type { ServerContext } from '../context.ts'
import { noStoreJsonResponse } from '../http/responses.ts'
import { requireSignedIn } from './signed-in.ts'

/**
 * Handles GET /oauth/scopes. Lists the scopes in the order of definition, without `*` and without
 * identity scopes such as `openid`.
 */
export async function handleScopeList(
  request: HttpRequest,
  context: ServerContext,
): Promise<HttpResponse> {
  await requireSignedIn(request, context)
  const { scopes: all, identityScopes } = context.options
  const scopes = Object.entries(all).filter(([id]) => !identityScopes.has(id))
  return noStoreJsonResponse(scopes.map(([id, description]) => ({ id, description })))
}
