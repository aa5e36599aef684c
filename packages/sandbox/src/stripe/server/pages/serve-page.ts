import type { HttpRequest, HttpResponse } from '../../../core/http.ts'
import { isOwnPost } from '../../../core/own-post.ts'
import type { StripeContext } from '../../state/context.ts'
import { StripeFault } from '../../wire/errors.ts'
import { leadTo, takeAnswer } from './answers.ts'
import { authenticatePage } from './authenticate.ts'
import { checkoutPage } from './checkout.ts'
import { creditNotePage, invoicePage, receiptPage } from './documents.ts'
import { notice, type Page, type PageRequest } from './page.ts'
import { portalPage } from './portal.ts'

/** The hosted pages: a customer's side of the payment. */
const PAGES: Readonly<Record<string, Page>> = {
  authenticate: authenticatePage,
  checkout: checkoutPage,
  credit_notes: creditNotePage,
  invoices: invoicePage,
  portal: portalPage,
  receipts: receiptPage,
}

export function servePage(request: HttpRequest, context: StripeContext): HttpResponse {
  const [, , name = '', id = ''] = request.path.split('/')
  const page = Object.hasOwn(PAGES, name) ? PAGES[name] : undefined
  if (!page) return notice(404, 'Not found', 'There is no such page.')
  const form = new URLSearchParams(request.query)
  const posted = request.method === 'POST'
  const answer = posted ? null : takeAnswer(context, form.get('shown') ?? '')
  if (answer) return answer
  form.delete('shown')
  const own = form.size > 0 ? `${request.path}?${form}` : request.path
  if (posted) {
    // The bank's answer may come from a page with Stripe.js; it carries the client secret, which is checked.
    if (page !== authenticatePage && !isOwnPost(request.headers, context.allowedHosts)) {
      return notice(403, 'Not from here', strangerText(request))
    }
    const typed = new URLSearchParams(request.body.toString('utf8'))
    for (const [key, value] of typed) form.set(key, value)
  }
  const response = respond(page, { context, id, form, posted })
  // The bank's page is shown in a frame, and ends there.
  if (!posted || response.status === 303 || page === authenticatePage) return response
  return leadTo(context, own, response)
}

/** Behind a proxy the page itself is the stranger, until its name is known here. */
function strangerText({ headers }: HttpRequest): string {
  const origin = headers.origin ?? ''
  if (!URL.canParse(origin))
    return 'This form was sent by another site, which did not say its name.'
  const { host } = new URL(origin)
  return `This form was sent by another site, ${origin}. If that is this sandbox behind a proxy, start it with --allow-host ${host}, or allowedHosts: ['${host}'].`
}

function respond(page: Page, request: PageRequest): HttpResponse {
  try {
    return page(request)
  } catch (error) {
    if (!(error instanceof StripeFault)) throw error
    return notice(error.status, 'Something went wrong', error.message)
  }
}
