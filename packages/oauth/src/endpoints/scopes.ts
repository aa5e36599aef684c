import type { ServerContext } from '../context.ts'
import type { HttpRequest, Reply } from '../http/exchange.ts'
import { noStoreJson } from '../http/replies.ts'
import { requireSignedIn } from './signed-in.ts'

/** GET /oauth/scopes: in the order they were defined; `*` is not one of them. */
export async function listScopes(request: HttpRequest, context: ServerContext): Promise<Reply> {
  await requireSignedIn(request, context)
  const scopes = Object.entries(context.options.scopes)
  return noStoreJson(scopes.map(([id, description]) => ({ id, description })))
}
