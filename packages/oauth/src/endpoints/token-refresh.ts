import type { HttpRequest, HttpResponse } from '@tollgate/http'
import type { ServerContext } from '../context.ts'
import { Unauthenticated } from '../errors.ts'
import { noStoreJson } from '../http/responses.ts'
import { retryIfSignedOut } from '../users/retry-if-signed-out.ts'
import { findSignedIn } from '../users/users.ts'
import { requireSignedIn } from './signed-in.ts'

/**
 * POST /oauth/token/refresh: a new cookie for cookie mode, before the present one expires. Only while
 * the session lives: a cookie that renewed itself would outlast it.
 */
export async function refreshCookie(
  request: HttpRequest,
  context: ServerContext,
): Promise<HttpResponse> {
  const cookie = await retryIfSignedOut(
    context,
    async () => {
      const { id } = await requireSignedIn(request, context)
      const person = await findSignedIn(context.options, request)
      return person?.id === id ? person : null
    },
    context.cookies.issue,
  )
  if (cookie === null) throw new Unauthenticated('Unauthenticated.')
  return noStoreJson({ message: 'Refreshed.' }, 200, { 'set-cookie': cookie })
}
