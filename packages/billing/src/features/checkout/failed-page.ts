import { type HttpResponse, html } from '@tollgate/http'
import type { BillingContext } from '../../core/context.ts'

/** Text of a page for a visitor whose request failed. */
interface FailureNotice {
  readonly title: string
  readonly text: string
}

const NOTICES: Readonly<Record<string, FailureNotice>> = {
  unauthenticated: {
    title: 'Sign in to continue',
    text: 'You are not signed in. Sign in, then open this address again. Any payment you made is recorded in either case.',
  },
  checkout_not_found: {
    title: 'Not found',
    text: 'There is no such payment page in your account. It may have expired or belong to another account.',
  },
  invoice_not_found: {
    title: 'Not found',
    text: 'There is no such invoice in your account. It may belong to another account.',
  },
  not_found: { title: 'Not found', text: 'There is nothing at this address.' },
}

const DEFAULT_NOTICE: FailureNotice = {
  title: 'Please try again',
  text: 'A service did not respond. Open this address again in a moment. Any payment you made is recorded in either case.',
}

interface FailedRequest {
  readonly status: number
  /** Response headers, such as `retry-after`. */
  readonly headers?: HttpResponse['headers'] | undefined
  readonly reason: string
  /**
   * The requested path, to which the visitor can return later. `null` if the request contains an
   * invalid id.
   */
  readonly path: string | null
}

/**
 * Returns the response to a browser whose request failed: a redirect to the application's
 * `failedPath`, or our own error page, because a visitor would not understand a JSON error.
 */
export function createBrowserErrorResponse(
  { options }: BillingContext,
  failed: FailedRequest,
): HttpResponse {
  if (options.failedUrl === null) return renderFailureNotice(failed)
  const url = new URL(options.failedUrl)
  url.searchParams.set('reason', failed.reason)
  if (failed.path !== null) url.searchParams.set('return_to', failed.path)
  return { status: 303, headers: { location: url.href, ...PRIVATE }, body: null }
}

/** The URL contains an id, which must not end up in caches or referrers. */
const PRIVATE = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' }

/** Renders the page from fixed texts only: nothing from the request is shown. */
function renderFailureNotice({ status, headers, reason }: FailedRequest): HttpResponse {
  const notice = (Object.hasOwn(NOTICES, reason) ? NOTICES[reason] : undefined) ?? DEFAULT_NOTICE
  const { title, text } = notice
  return {
    status,
    headers: {
      ...headers,
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
      'x-content-type-options': 'nosniff',
      ...PRIVATE,
    },
    body: html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><title>${title}</title></head>
<body><h1>${title}</h1><p>${text}</p><p><a href="/">Go to the first page</a></p></body></html>
`.text,
  }
}
