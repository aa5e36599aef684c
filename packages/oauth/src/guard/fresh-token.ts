import type { HttpRequest } from '@tollgate/http'
import type { Clock } from '../clock.ts'
import { readCookie } from '../http/cookies.ts'
import type { RevocationFeed } from '../revocations/feed.ts'
import { retryIfSignedOut } from '../users/retry-if-signed-out.ts'
import { findSignedIn, type Person, type SignInContext } from '../users/signed-in.ts'
import { type CookieMode, TOKEN_COOKIE_NAME } from './cookie-mode.ts'

/** The CSRF token and cookie that a page of the application needs for cookie mode. */
export interface FreshToken {
  /** CSRF token for the page's `<meta name="csrf-token">`. `null` if no user is signed in. */
  readonly csrfToken: string | null
  /** `Set-Cookie` header to send with the page. `null` if the cookie does not change. */
  readonly setCookie: string | null
}

export interface FreshTokenContext extends SignInContext {
  readonly cookies: CookieMode
  readonly feed: RevocationFeed
  readonly clock: Clock
}

/**
 * Prepares cookie mode for a page: renews the cookie of a signed-in user, and deletes it if no user
 * is signed in.
 */
export async function issueFreshCookieToken(
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
  const left = readCookie(cookieHeader, TOKEN_COOKIE_NAME) !== null
  return { csrfToken: null, setCookie: left ? cookies.clear() : null }
}
