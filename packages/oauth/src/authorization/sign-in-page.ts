import type { HttpRequest } from '@tollgate/http'
import type { ServerContext } from '../context.ts'
import { parseForm } from '../http/form.ts'

/** `hints` help the page: whom to greet, in which language. They prove nothing. */
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
 * For "Not you?": the sign-in page, whoever is signed in. Following the link changes nothing yet, so a link on
 * another site cannot either; the session ends when somebody else has signed in.
 */
export function otherAccountLocation(context: ServerContext, returnTo: string): string {
  return signInLocation(context, returnTo, { prompt: 'select_account' })
}

/** The query of this very request, with what it needs to be found again. */
export function queryToReturnTo(
  request: HttpRequest,
  kept: Readonly<Record<string, string>> = {},
): Map<string, string> {
  return new Map([...parseForm(request.query), ...Object.entries(kept)])
}

export function addressOf(request: HttpRequest, query: ReadonlyMap<string, string>): string {
  return `${request.path}?${new URLSearchParams([...query])}`
}
