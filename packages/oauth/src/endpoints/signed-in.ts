import type { HttpRequest } from '@tollgate/http'
import type { ServerContext } from '../context.ts'
import { areSecretsEqual } from '../crypto.ts'
import { CsrfMismatch, Unauthenticated } from '../errors.ts'
import { findSignedIn, type Person } from '../users/signed-in.ts'

const SAFE_METHODS = new Set(['GET', 'HEAD'])

/**
 * Returns the signed-in person who calls a management route, authenticated by the session of the
 * application or by the cookie of cookie mode. Bearer tokens are rejected: a third party must not
 * manage a person's clients and tokens.
 * @throws Unauthenticated, or CsrfMismatch for a changing request without the CSRF token
 */
export async function requireSignedIn(
  request: HttpRequest,
  context: ServerContext,
): Promise<Person> {
  if (request.header('authorization') !== null) {
    throw new Unauthenticated(
      'These routes need the session of the signed-in user instead of a token.',
    )
  }
  const csrfToken = request.header('x-csrf-token')
  const cookie = await context.cookies.authenticate(request.header('cookie'), csrfToken)
  if (cookie) return { id: cookie.userId, sessionId: cookie.sessionId }
  const person = await findSignedIn(context.options, request)
  if (!person) throw new Unauthenticated('Unauthenticated.')
  if (SAFE_METHODS.has(request.method)) return person
  if (!areSecretsEqual(csrfToken ?? '', context.cookies.csrfToken(person))) {
    throw new CsrfMismatch('Send the CSRF token of this session in the X-CSRF-TOKEN header.')
  }
  return person
}
