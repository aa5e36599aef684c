import type { HttpRequest, HttpResponse } from '@tollgate/http'
import type { BillingContext } from '../context.ts'

/** What somebody reads who has paid, and is told that something is wrong. */
interface Notice {
  readonly title: string
  readonly text: string
}

const NOTICES: Readonly<Record<string, Notice>> = {
  unauthenticated: {
    title: 'Sign in to go on',
    text: 'Nobody is signed in here. Sign in, and open this address again. What was paid is noted in any case.',
  },
  checkout_not_found: {
    title: 'Not found',
    text: 'There is no such payment page of yours. It may have expired, or be that of another account.',
  },
}

const OTHERWISE: Notice = {
  title: 'Please try again',
  text: 'Something did not answer. Open this address again in a moment. What was paid is noted in any case.',
}

/** What a browser gets that comes back from a hosted page and cannot be let in: the application's page, or one of ours. */
export function returnFailed(
  { options: { returnFailedUrl, paths } }: BillingContext,
  request: HttpRequest,
  { status, reason }: { readonly status: number; readonly reason: string },
): HttpResponse {
  if (returnFailedUrl === null) return noticePage(status, reason)
  const url = new URL(returnFailedUrl)
  url.searchParams.set('reason', reason)
  const id = new URLSearchParams(request.query).get('session_id') ?? ''
  if (/^\w{1,255}$/.test(id)) {
    url.searchParams.set('return_to', `${paths.checkoutReturn}?session_id=${id}`)
  }
  return { status: 303, headers: { location: url.href, ...PRIVATE }, body: null }
}

/** The address has the page's id in it. */
const PRIVATE = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' }

/** Nothing that came with the request is shown. */
function noticePage(status: number, reason: string): HttpResponse {
  const notice = (Object.hasOwn(NOTICES, reason) ? NOTICES[reason] : undefined) ?? OTHERWISE
  const { title, text } = notice
  return {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
      'x-content-type-options': 'nosniff',
      ...PRIVATE,
    },
    body: `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><title>${title}</title></head>
<body><h1>${title}</h1><p>${text}</p><p><a href="/">Go to the first page</a></p></body></html>
`,
  }
}
