import type { ServerContext } from '../context.ts'
import type { HttpRequest, Reply } from '../http/exchange.ts'
import { noStoreJson } from '../http/replies.ts'
import { requireSignedIn } from './signed-in.ts'

/** POST /oauth/token/refresh: a new cookie for cookie mode, before the present one expires. */
export async function refreshCookie(request: HttpRequest, context: ServerContext): Promise<Reply> {
  const person = await requireSignedIn(request, context)
  const cookie = await context.cookies.issue(person)
  return noStoreJson({ message: 'Refreshed.' }, 200, { 'set-cookie': cookie })
}
