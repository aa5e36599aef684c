import type { ServerContext } from './context.ts'
import { signInLocation } from './endpoints/authorize.ts'
import {
  OAuthError,
  printable,
  ServerError,
  TemporarilyUnavailable,
  Unauthenticated,
} from './errors.ts'
import type { HttpRequest, Reply } from './http/exchange.ts'
import { htmlPage, wantsHtml } from './http/html.ts'
import { errorReply, redirect } from './http/replies.ts'

/** The one place where a thrown error becomes an answer. */
export async function failureReply(
  thrown: unknown,
  request: HttpRequest,
  context: ServerContext,
): Promise<Reply> {
  const error = publicError(thrown, context)
  const { path, query } = request
  const browser = wantsHtml(request)
  if (error instanceof Unauthenticated && browser && request.method === 'GET') {
    return redirect(signInLocation(context, query ? `${path}?${query}` : path))
  }
  const isPage = path === `${context.options.basePath}/authorize`
  if (isPage && (browser || !request.header('accept')?.includes('json'))) {
    return errorPage(error, context)
  }
  return errorReply(error)
}

/** A page of the application's own that fails costs the page, never the answer. */
async function errorPage(error: OAuthError, context: ServerContext): Promise<Reply> {
  const { pages, logger } = context.options
  const { status, hint } = error
  try {
    const view = { status, message: printable(error.message), hint: hint ?? null }
    const page = htmlPage(await pages.error(view), status)
    return { ...page, headers: { ...page.headers, ...error.headers() } }
  } catch (thrown) {
    logger.error('The error page failed', thrown)
    return errorReply(error)
  }
}

/** Anything but an OAuthError is a bug or an outage: it is logged, and strangers learn nothing of it. */
export function publicError(
  thrown: unknown,
  context: Pick<ServerContext, 'storage' | 'options'>,
): OAuthError {
  if (thrown instanceof OAuthError) return thrown
  if (context.storage.isUnavailable(thrown)) {
    return new TemporarilyUnavailable('The service is temporarily unavailable', { cause: thrown })
  }
  context.options.logger.error('A request failed unexpectedly', thrown)
  return new ServerError('The server could not complete the request')
}
