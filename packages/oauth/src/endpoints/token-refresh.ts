import type { HttpRequest, HttpResponse } from '@tollgate/http'
import type { ServerContext } from '../context.ts'
import { Unauthenticated } from '../errors.ts'
import { noStoreJsonResponse } from '../http/responses.ts'
import { retryIfSignedOut } from '../users/retry-if-signed-out.ts'
import { findSignedIn } from '../users/signed-in.ts'
import { requireSignedIn } from './signed-in.ts'

/**
 * Handles POST /oauth/token/refresh: issues a new cookie for cookie mode before the current one
 * expires. Requires a session of the application that has not ended, so that the cookie cannot
 * outlast the session.
 */
export async function handleCookieRefresh(
  request: HttpRequest,
  context: ServerContext,
): Promise<HttpResponse> {
  const cookie = await retryIfSignedOut(
    context,
    async () => {
      const { id } = await requireSignedIn(request, context)
      const provider = context.providers.locate(id)?.provider.name ?? undefined
      const person = await findSignedIn(context.options, request, provider)
      return person?.id === id ? person : null
    },
    context.cookies.issue,
  )
  if (cookie === null) throw new Unauthenticated('Unauthenticated.')
  return noStoreJsonResponse({ message: 'Refreshed.' }, 200, { 'set-cookie': cookie })
}
