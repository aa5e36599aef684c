import {
  type HttpError,
  type HttpRequest,
  type HttpResponse,
  isHttpError,
  wantsHtml,
} from '@tollgate/http'
import { findScreenAgain } from './authorization/decision.ts'
import { signInLocation } from './authorization/sign-in-page.ts'
import type { ServerContext } from './context.ts'
import {
  InvalidRequest,
  isOAuthError,
  MethodNotAllowed,
  type OAuthError,
  PayloadTooLarge,
  printable,
  ServerError,
  TemporarilyUnavailable,
} from './errors.ts'
import { withKeyChallenge } from './guard/challenge.ts'
import { htmlPage } from './http/html.ts'
import { errorResponse, redirect } from './http/responses.ts'

/** Programs are told `Unauthenticated.`; people in words. */
const SIGNED_OUT = 'You are not signed in any more'

/** The one place where a thrown error becomes a response. */
export async function failureResponse(
  thrown: unknown,
  request: HttpRequest,
  context: ServerContext,
): Promise<HttpResponse> {
  const error = publicError(thrown, context)
  const { path, query } = request
  const browser = wantsHtml(request)
  if (isOAuthError(error, 'unauthenticated') && browser && request.method === 'GET') {
    return redirect(signInLocation(context, query ? `${path}?${query}` : path))
  }
  if (context.pagePaths.has(path) && (browser || !request.header('accept')?.includes('json'))) {
    return errorPage(error, findScreenAgain(error, request, context), context)
  }
  return withKeyChallenge(errorResponse(error), context.features.keyProofs?.algorithms)
}

/** A page of the application's own that fails costs the page, never the response. */
async function errorPage(
  error: OAuthError,
  again: string | null,
  context: ServerContext,
): Promise<HttpResponse> {
  const { pages, logger } = context.options
  const { status, hint } = error
  try {
    const message = isOAuthError(error, 'unauthenticated') ? SIGNED_OUT : printable(error.message)
    const view = { status, message, hint: hint ?? null, again }
    const page = htmlPage(await pages.error(view), status)
    return { ...page, headers: { ...page.headers, ...error.headers() } }
  } catch (thrown) {
    logger.error('The error page failed', thrown)
    return errorResponse(error)
  }
}

/** Anything but an OAuthError is a bug or an outage: it is logged, and strangers learn nothing of it. */
export function publicError(
  thrown: unknown,
  context: Pick<ServerContext, 'storage' | 'options'>,
): OAuthError {
  if (isOAuthError(thrown)) return thrown
  if (isHttpError(thrown)) return fromHttpError(thrown)
  if (context.storage.isUnavailable(thrown)) {
    return new TemporarilyUnavailable('The service is temporarily unavailable', { cause: thrown })
  }
  context.options.logger.error('A request failed unexpectedly', thrown)
  return new ServerError('The server could not complete the request')
}

/** What was wrong before an endpoint could read its request, in the words of OAuth. */
function fromHttpError(error: HttpError): OAuthError {
  switch (error.code) {
    case 'method_not_allowed':
      return new MethodNotAllowed(error.allowed)
    case 'payload_too_large':
      return new PayloadTooLarge(error.message)
    default:
      return new InvalidRequest(error.message, { cause: error })
  }
}
