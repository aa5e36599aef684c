import type { HttpRequest } from '@tollgate/http'
import type { Clock } from '../clock.ts'
import { readCookie } from '../http/cookies.ts'
import type { RevocationFeed } from '../revocations/feed.ts'
import { retryIfSignedOut } from '../users/retry-if-signed-out.ts'
import { type Application, findSignedIn, type Person } from '../users/users.ts'
import { COOKIE_NAME, type CookieMode } from './cookie-mode.ts'

/** What a page of a signed-in person needs for cookie mode. */
export interface FreshToken {
  /** For the page's `<meta name="csrf-token">`; null when nobody is signed in. */
  readonly csrfToken: string | null
  /** A `Set-Cookie` header, or null when there is nothing to change. */
  readonly setCookie: string | null
}

export interface FreshTokenContext extends Application {
  readonly cookies: CookieMode
  readonly feed: RevocationFeed
  readonly clock: Clock
}

/** What the fresh-token middleware puts on the pages of signed-in people, and takes off otherwise. */
export async function freshToken(
  request: HttpRequest,
  context: FreshTokenContext,
): Promise<FreshToken> {
  const { cookies } = context
  const cookieHeader = request.header('cookie')
  const fresh = await retryIfSignedOut<Person, FreshToken>(
    context,
    () => findSignedIn(context, request),
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
