import type { HttpRequest } from '@tollgate/http'
import type { ServerContext } from '../context.ts'
import { parseForm } from '../http/form.ts'

/**
 * Builds the URL of the sign-in page, which leads to `returnTo` afterwards. `hints`, such as a user
 * name and a language, are added as query parameters; anyone can forge them.
 */
export function buildSignInUrl(
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
 * Builds the URL of the "Not you?" link: the sign-in page, shown even if the person is signed in.
 * Opening the link does not end the session, so a link on another site does no harm.
 */
export function buildOtherAccountUrl(context: ServerContext, returnTo: string): string {
  return buildSignInUrl(context, returnTo, { prompt: 'select_account' })
}

/**
 * Builds the query parameters of the URL that leads back to this authorization request: those of
 * the request, and those in `extraParams`.
 */
export function buildReturnQuery(
  request: HttpRequest,
  extraParams: Readonly<Record<string, string>> = {},
): Map<string, string> {
  return new Map([...parseForm(request.query), ...Object.entries(extraParams)])
}

export function buildUrlWithQuery(
  request: HttpRequest,
  query: ReadonlyMap<string, string>,
): string {
  return `${request.path}?${new URLSearchParams([...query])}`
}
