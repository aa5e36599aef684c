import {
  type HttpError,
  type HttpRequest,
  type HttpResponse,
  isHttpError,
  wantsHtml,
} from '@tollgate/http'
import { DecisionRefused, findReopenLink } from './authorization/decision.ts'
import { choosePageLanguage } from './authorization/page-language.ts'
import { buildSignInUrl } from './authorization/sign-in-page.ts'
import type { ServerContext } from './context.ts'
import {
  InvalidRequest,
  isOAuthError,
  MethodNotAllowed,
  type OAuthError,
  type OAuthErrorCode,
  PayloadTooLarge,
  ServerError,
  TemporarilyUnavailable,
  toPrintable,
} from './errors.ts'
import { addDpopChallenge } from './guard/challenge.ts'
import { createHtmlPage } from './http/html.ts'
import { errorResponse, redirectResponse } from './http/responses.ts'
import type { DefaultMessages } from './pages/messages/en.ts'
import type { PageText } from './pages/messages/messages.ts'
import type { ErrorView } from './pages/pages.ts'

/** Turns any thrown error into the response to a request. */
export async function createFailureResponse(
  thrown: unknown,
  request: HttpRequest,
  context: ServerContext,
): Promise<HttpResponse> {
  const error = toPublicError(thrown, context)
  const { path, query } = request
  const browser = wantsHtml(request)
  if (isOAuthError(error, 'unauthenticated') && browser && request.method === 'GET') {
    return redirectResponse(buildSignInUrl(context, query ? `${path}?${query}` : path))
  }
  if (context.pagePaths.has(path) && (browser || !request.header('accept')?.includes('json'))) {
    return errorPage(error, request, context)
  }
  return addDpopChallenge(errorResponse(error), context.features.keyProofs?.algorithms)
}

/** Shows the error page. If a custom page throws, the caller receives the error as JSON instead. */
async function errorPage(
  error: OAuthError,
  request: HttpRequest,
  context: ServerContext,
): Promise<HttpResponse> {
  const { pages, logger } = context.options
  const { status } = error
  try {
    const again = findReopenLink(error, request, context)
    const { t, view: page } = choosePageLanguage(
      request,
      new URLSearchParams(request.query).get('ui_locales'),
      context,
    )
    const view = { ...page, status, ...describe(error, t), again }
    const response = createHtmlPage(await pages.error(view), status)
    return { ...response, headers: { ...response.headers, ...error.headers() } }
  } catch (thrown) {
    logger.error('The error page could not be rendered', thrown)
    return errorResponse(error)
  }
}

/**
 * Describes the error. Messages for end users are translated; technical ones are for the
 * application's developers, in English.
 */
function describe(
  error: OAuthError,
  t: PageText,
): Pick<ErrorView, 'message' | 'hint' | 'isTechnical'> {
  if (error instanceof DecisionRefused) {
    const id = `error.${error.reason}` as const
    return { message: t(id), hint: t(`${id}.hint`), isTechnical: false }
  }
  const id = BY_CODE[error.code]
  if (id) return { message: t(id), hint: null, isTechnical: false }
  return { message: toPrintable(error.message), hint: error.hint ?? null, isTechnical: true }
}

const BY_CODE: Partial<Record<OAuthErrorCode, Extract<keyof DefaultMessages, `error.${string}`>>> =
  {
    unauthenticated: 'error.signedOut',
    csrf_mismatch: 'error.foreignForm',
    too_many_requests: 'error.tooMany',
    temporarily_unavailable: 'error.unavailable',
    server_error: 'error.failed',
  }

/**
 * Returns the error to show to the caller. OAuthErrors and malformed requests are shown as they
 * are. All other errors are bugs or outages: their details are hidden, and bugs are logged.
 */
export function toPublicError(
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

/** Maps errors found before an endpoint could read its request to OAuth errors. */
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
