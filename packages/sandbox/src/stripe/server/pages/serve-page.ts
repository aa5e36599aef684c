import type { HttpRequest, HttpResponse } from '../../../core/http.ts'
import { isSameOriginPost } from '../../../core/same-origin-post.ts'
import type { StripeContext } from '../../state/context.ts'
import { StripeFault } from '../../wire/errors.ts'
import { renderAuthenticationPage } from './authenticate.ts'
import { renderCheckoutPage } from './checkout.ts'
import { renderCreditNotePage, renderInvoicePage, renderReceiptPage } from './documents.ts'
import { createNoticeResponse, type PageRequest, type StripePage } from './page.ts'
import { renderPortalPage } from './portal.ts'

/** The hosted pages by name: checkout, portal, invoices and others that customers see. */
const PAGES: Readonly<Record<string, StripePage>> = {
  authenticate: renderAuthenticationPage,
  checkout: renderCheckoutPage,
  credit_notes: renderCreditNotePage,
  invoices: renderInvoicePage,
  portal: renderPortalPage,
  receipts: renderReceiptPage,
}

export function servePage(request: HttpRequest, context: StripeContext): HttpResponse {
  const [, , name = '', id = ''] = request.path.split('/')
  const page = Object.hasOwn(PAGES, name) ? PAGES[name] : undefined
  if (!page) return createNoticeResponse(404, 'Not found', 'There is no such page.')
  const form = new URLSearchParams(request.query)
  const posted = request.method === 'POST'
  const answer = posted ? null : takeAnswer(context, form.get('shown') ?? '')
  if (answer) return answer
  form.delete('shown')
  const own = form.size > 0 ? `${request.path}?${form}` : request.path
  if (posted) {
    // A page with Stripe.js, on any origin, may submit the 3-D Secure result: its client secret is
    // checked.
    if (
      page !== renderAuthenticationPage &&
      !isSameOriginPost(request.headers, context.allowedHosts)
    ) {
      return createNoticeResponse(403, 'Not from here', foreignFormText(request))
    }
    const typed = new URLSearchParams(request.body.toString('utf8'))
    for (const [key, value] of typed) form.set(key, value)
  }
  const response = respond(page, { context, id, form, posted })
  // The 3-D Secure page is shown in a frame and needs no redirect.
  if (!posted || response.status === 303 || page === renderAuthenticationPage) return response
  return redirectToAnswer(context, own, response)
}

/**
 * Explains why a form was rejected. Behind a proxy, forms of the sandbox's own pages are rejected
 * until the proxy's host name is allowed.
 */
function foreignFormText({ headers }: HttpRequest): string {
  const origin = headers.origin ?? ''
  if (!URL.canParse(origin))
    return 'This form was sent by another site, without a valid Origin header.'
  const { host } = new URL(origin)
  return `This form was sent by another site, ${origin}. If that is this sandbox behind a proxy, start it with --allow-host ${host}, or allowedHosts: ['${host}'].`
}

function respond(page: StripePage, request: PageRequest): HttpResponse {
  try {
    return page(request)
  } catch (error) {
    if (!(error instanceof StripeFault)) throw error
    return createNoticeResponse(error.status, 'Something went wrong', error.message)
  }
}

/**
 * Maximum number of responses that are kept for redirects. It is more than anyone has open at the
 * same time.
 */
const MAX_ANSWERS = 100
const ANSWERS = new WeakMap<StripeContext, Map<string, HttpResponse>>()
let count = 0

/**
 * Redirects to the response of a submitted form, so that "back" and "reload" do not submit it
 * again. The response is shown once; afterwards its URL shows the page in its current state.
 */
function redirectToAnswer(
  context: StripeContext,
  path: string,
  answer: HttpResponse,
): HttpResponse {
  const kept = ANSWERS.get(context) ?? new Map<string, HttpResponse>()
  ANSWERS.set(context, kept)
  const name = String(++count)
  kept.set(name, answer)
  const [oldest = ''] = kept.keys()
  if (kept.size > MAX_ANSWERS) kept.delete(oldest)
  const mark = path.includes('?') ? '&' : '?'
  return { status: 303, headers: { location: `${path}${mark}shown=${name}` } }
}

function takeAnswer(context: StripeContext, name: string): HttpResponse | null {
  const kept = ANSWERS.get(context)
  const answer = kept?.get(name) ?? null
  kept?.delete(name)
  return answer
}
