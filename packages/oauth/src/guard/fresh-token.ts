import type { ServerContext } from '../context.ts'
import { readCookie } from '../http/cookies.ts'
import type { HttpRequest } from '../http/exchange.ts'
import { findSignedIn } from '../users.ts'
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
  const person = await findSignedIn(context.options.users, request)
  const cookieHeader = request.header('cookie')
  if (person) {
    const csrfToken = context.cookies.csrfToken(person)
    if (request.method !== 'GET') return { csrfToken, setCookie: null }
    return { csrfToken, setCookie: await context.cookies.refresh(person, cookieHeader) }
  }
  const left = readCookie(cookieHeader, COOKIE_NAME) !== null
  return { csrfToken: null, setCookie: left ? context.cookies.clear() : null }
}
