import type { HttpRequest } from '@tollgate/http'
import type { ServerContext } from '../context.ts'
import { readCookie } from '../http/cookies.ts'
import { whileSignedIn } from '../users/retry-if-signed-out.ts'
import { findSignedIn, type Person } from '../users/users.ts'
import { COOKIE_NAME } from './cookie-mode.ts'

export interface FreshToken {
  /** For the page's `<meta name="csrf-token">`; null when nobody is signed in. */
  readonly csrfToken: string | null
  /** A `Set-Cookie` header, or null when there is nothing to change. */
  readonly setCookie: string | null
}

/** What the fresh-token middleware puts on the pages of signed-in people, and takes off otherwise. */
export async function freshToken(
  request: HttpRequest,
  context: ServerContext,
): Promise<FreshToken> {
  const { cookies, options } = context
  const cookieHeader = request.header('cookie')
  const fresh = await whileSignedIn<Person, FreshToken>(
    context,
    () => findSignedIn(options, request),
    async (person, mark) => {
      const csrfToken = cookies.csrfToken(person)
      if (request.method !== 'GET' || (await cookies.isGood(person, cookieHeader))) {
        return { csrfToken, setCookie: null }
      }
      const setCookie = await cookies.issue(person, mark)
      return setCookie === null ? null : { csrfToken, setCookie }
    },
  )
  if (fresh) return fresh
  const left = readCookie(cookieHeader, COOKIE_NAME) !== null
  return { csrfToken: null, setCookie: left ? cookies.clear() : null }
}
