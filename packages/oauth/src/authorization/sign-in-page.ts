import type { HttpRequest } from '@tollgate/http'
import type { ServerContext } from '../context.ts'
import { parseForm } from '../http/form.ts'

/**
 * Returns the URL of the sign-in page. `hints`, such as a user name and a language, help the page
 * and prove nothing.
 */
export function signInLocation(
  context: ServerContext,
  returnTo: string,
  hints: Readonly<Record<string, string>> = {},
): string {
  const { signInUrl } = context.options
  const separator = signInUrl.includes('?') ? '&' : '?'
  const params = Object.entries({ return_to: returnTo, ...hints })
  const query = params.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')
  return `${signInUrl}${separator}${query}`
}

/**
 * Returns the link for "Not you?": the sign-in page, even if the person is signed in. Opening it
 * changes nothing, so a link on another site cannot do harm; the session ends when another person
 * has signed in.
 */
export function otherAccountLocation(context: ServerContext, returnTo: string): string {
  return signInLocation(context, returnTo, { prompt: 'select_account' })
}

/** Returns the query of this request, with the parameters needed to find it again. */
export function queryToReturnTo(
  request: HttpRequest,
  kept: Readonly<Record<string, string>> = {},
): Map<string, string> {
  return new Map([...parseForm(request.query), ...Object.entries(kept)])
}

export function addressOf(request: HttpRequest, query: ReadonlyMap<string, string>): string {
  return `${request.path}?${new URLSearchParams([...query])}`
}
