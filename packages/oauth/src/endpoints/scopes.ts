import type { HttpRequest, HttpResponse } from '@tollgate/http'
import type { ServerContext } from '../context.ts'
import { noStoreJson } from '../http/responses.ts'
import { requireSignedIn } from './signed-in.ts'

/** GET /oauth/scopes: in the order they were defined; `*` is not one of them. */
export async function listScopes(
  request: HttpRequest,
  context: ServerContext,
): Promise<HttpResponse> {
  await requireSignedIn(request, context)
  const scopes = Object.entries(context.options.scopes)
  return noStoreJson(scopes.map(([id, description]) => ({ id, description })))
}
