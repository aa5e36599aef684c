import type { HttpRequest } from '@tollgate/http'
import type { ServerContext } from '../context.ts'
import { equalSecrets } from '../crypto.ts'
import { CsrfMismatch, Unauthenticated } from '../errors.ts'
import { findSignedIn, type Person } from '../users/users.ts'

const SAFE_METHODS = new Set(['GET', 'HEAD'])

/**
 * Who calls a management route: the signed-in person, by the application's session or by cookie
 * mode. Never a bearer token: a third party's must not reach a person's clients and tokens.
 */
export async function requireSignedIn(
  request: HttpRequest,
  context: ServerContext,
): Promise<Person> {
  if (request.header('authorization') !== null) {
    throw new Unauthenticated('These routes take the session of the signed-in user, no token.')
  }
  const csrfToken = request.header('x-csrf-token')
  const cookie = await context.cookies.authenticate(request.header('cookie'), csrfToken)
  if (cookie) return { id: cookie.userId, sessionId: cookie.sessionId }
  const person = await findSignedIn(context.options, request)
  if (!person) throw new Unauthenticated('Unauthenticated.')
  if (SAFE_METHODS.has(request.method)) return person
  if (!equalSecrets(csrfToken ?? '', context.cookies.csrfToken(person))) {
    throw new CsrfMismatch('Send the CSRF token of this session in the X-CSRF-TOKEN header.')
  }
  return person
}
